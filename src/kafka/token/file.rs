//! Tokens out of files that somebody else keeps fresh, as the kubelet does with projected service account tokens.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{LARGEST, Token};

/// The time between two looks. The kubelet replaces a token after four fifths of its lifetime, which is ten minutes at
/// least.
pub(super) const LOOK: Duration = Duration::from_secs(30);

pub(super) async fn fetch(path: PathBuf) -> Result<Token, String> {
    let read = tokio::task::spawn_blocking(move || read(&path)).await;
    read.unwrap_or_else(|stopped| Err(stopped.to_string()))
}

fn read(path: &Path) -> Result<Token, String> {
    let words =
        |error: std::io::Error| format!("{error}: is the volume with the token mounted there?");
    // A pipe would hold up the reader for ever.
    if !path.metadata().map_err(words)?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut text = zeroize::Zeroizing::new(String::new());
    let most = u64::try_from(LARGEST).unwrap_or(u64::MAX);
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_string(&mut text))
        .map_err(words)?;
    if text.len() > LARGEST {
        return Err(format!(
            "it is larger than {LARGEST} bytes, which no token is"
        ));
    }
    Token::new(&text, None, SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_with_a_token_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let says = |path: &Path| read(path).unwrap_err();
        assert!(says(&dir.path().join("none")).contains("is the volume with the token mounted"));
        assert!(says(dir.path()).contains("no regular file"));
        let large = dir.path().join("large");
        std::fs::write(&large, vec![b'a'; LARGEST + 1]).unwrap();
        assert!(says(&large).contains("larger than"));
    }
}
