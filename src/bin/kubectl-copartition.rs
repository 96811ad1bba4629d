//! The kubectl plugin.

fn main() -> std::process::ExitCode {
    copartition::cli::plugin::main()
}
