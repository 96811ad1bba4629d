//! The older text format of Prometheus (0.0.4), for who does not ask for OpenMetrics: curl, promtool, older scrapers.

use std::collections::BTreeSet;

/// The same page in the older format. There a counter is called what its samples are called, with `_total`; there are no
/// units, and no end mark.
pub(super) fn classic(page: &str) -> String {
    let counters: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut text = String::with_capacity(page.len());
    for line in page.lines() {
        if line == "# EOF" || line.starts_with("# UNIT ") {
            continue;
        }
        let about = ["# HELP ", "# TYPE "].into_iter().find_map(|word| {
            let (name, rest) = line.strip_prefix(word)?.split_once(' ')?;
            counters.contains(name).then_some((word, name, rest))
        });
        match about {
            Some((word, name, rest)) => text.extend([word, name, "_total ", rest]),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_called_as_their_samples() {
        let page = "# HELP a What.\n# TYPE a counter\na_total{x=\"# TYPE b counter\"} 1\n\
                    # HELP b How long.\n# TYPE b histogram\n# UNIT b seconds\nb_sum 1\n# EOF\n";
        assert_eq!(
            classic(page),
            "# HELP a_total What.\n# TYPE a_total counter\na_total{x=\"# TYPE b counter\"} 1\n\
             # HELP b How long.\n# TYPE b histogram\nb_sum 1\n"
        );
    }
}
