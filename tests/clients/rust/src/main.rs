//! Where the crate kafka puts keys: kafka-rust BOOTSTRAP PARTITIONER TOPIC...
//!
//! On standard input: one key a line as hex, "-" for none. The crate speaks to no broker of today: Kafka has dropped its
//! version of the request. So its producer is run to the point where the partition of each record is known, and what it
//! was about to send is printed for another program to send: topic, partition, key and the line's number.

use std::env;
use std::io::{self, BufRead};

use kafka::client::ProduceMessage;
use kafka::producer::{DefaultPartitioner, Partitioner, Producer, Record, Topics};

/// The crate's own partitioner, which prints what it decides.
#[derive(Default)]
struct Printed(DefaultPartitioner);

impl Partitioner for Printed {
    fn partition(&mut self, topics: Topics<'_>, record: &mut ProduceMessage<'_, '_>) {
        self.0.partition(topics, record);
        let key = record.key.map_or_else(|| "-".to_owned(), hex);
        let value = String::from_utf8_lossy(record.value.unwrap_or_default());
        println!("{} {} {key} {value}", record.topic, record.partition);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [bootstrap, partitioner, topics @ ..] = &args[..] else {
        return Err("usage: kafka-rust BOOTSTRAP PARTITIONER TOPIC...".into());
    };
    if partitioner != "default" {
        return Err(format!("no partitioner {partitioner}").into());
    }
    let hosts = bootstrap.split(',').map(str::to_owned).collect();
    let mut producer = Producer::from_hosts(hosts)
        .with_partitioner(Printed::default())
        .create()?;
    let keys: Vec<Vec<u8>> = io::stdin()
        .lock()
        .lines()
        .map(|line| unhex(&line?))
        .collect::<Result<_, _>>()?;
    let values: Vec<String> = (0..keys.len()).map(|line| line.to_string()).collect();
    for topic in topics {
        let records = keys.iter().zip(&values);
        let records: Vec<_> = records
            .map(|(key, value)| Record::from_key_value(topic, &key[..], &value[..]))
            .collect();
        // An error in any case: Kafka ends the connection when it sees such a request.
        let _ = producer.send_all(&records);
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// It knows no other record without a key than one with an empty key.
fn unhex(line: &str) -> io::Result<Vec<u8>> {
    let digits = line.trim_start_matches('-');
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(io::Error::other))
        .collect()
}
