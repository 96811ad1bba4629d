//! The operator.

fn main() -> std::process::ExitCode {
    copartition::cli::main()
}
