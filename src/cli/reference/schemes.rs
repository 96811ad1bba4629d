//! Encodings, partitioners and clients, from their tables.

use std::fmt::Write as _;

use super::cell;
use crate::keys::clients::clients_table;
use crate::keys::{Encoding, Partitioner};

pub(super) fn text() -> String {
    let names: Vec<String> = Encoding::names().map(|name| format!("`{name}`")).collect();
    let mut page = format!(
        "A key scheme is an encoding (from the key to its bytes) and a partitioner (from the bytes to a partition). \
         [key-schemes.md](../key-schemes.md) says how they are declared and compared.\n\n\
         ## Encodings\n\n{}; `ID` is a registry's schema id, `E` one of the encodings before.\n\n\
         ## Partitioners\n\nh is the hash of the key's bytes, n the number of partitions. Besides there is `custom`, with a `name`.\n\n\
         | partitioner | h | partition | empty key |\n|---|---|---|---|\n",
        names.join(", ")
    );
    for partitioner in &Partitioner::COMPUTED {
        if let Some(formula) = partitioner.formula() {
            // Writing to a String cannot fail.
            let _ = writeln!(
                page,
                "| `{partitioner}` | {} | {} | {} |",
                cell(&formula.hash.to_string()),
                cell(&formula.reduction.to_string()),
                formula.empty
            );
        }
    }
    let _ = write!(
        page,
        "\n## Clients and their settings\n\n\
         `kubectl copartition schemes` shows it with every alias and the reasons. *Seen by* says how it is known: `run` that the client was \
         run and the partitions of its records were read back, `read` that its source was read.\n\n{}",
        clients_table()
    );
    page
}
