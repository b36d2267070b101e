//! `init`: a project to begin with.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::exit::ExitError;
use crate::out::DataOutput;

/// What is written, in the order in which it is shown.
const FILES: [(&str, &str); 10] = [
    ("workflows/hello.ts", include_str!("../project/hello.ts")),
    ("tests/hello.test.ts", include_str!("../project/hello.test.ts")),
    ("rival.toml", include_str!("../project/rival.toml")),
    ("tsconfig.json", include_str!("../project/tsconfig.json")),
    (".gitignore", include_str!("../project/gitignore")),
    ("README.md", include_str!("../project/README.md")),
    (".rival/types/README.md", include_str!("../project/types.md")),
    (".rival/types/rival.d.ts", rival_script::types::RIVAL),
    (".rival/types/rival-test.d.ts", rival_script::types::RIVAL_TEST),
    (".rival/types/zod.d.ts", rival_script::types::ZOD),
];

pub(crate) fn init(out: &DataOutput, folder: &Path) -> Result<()> {
    let there: Vec<&str> =
        FILES.iter().map(|(name, _)| *name).filter(|name| folder.join(name).exists()).collect();
    if !there.is_empty() {
        let more = if there.len() > 1 {
            format!(" and {} more of its files", there.len() - 1)
        } else {
            String::new()
        };
        let message = format!("{} has {}{more} already: nothing was written", folder.display(), there[0]);
        return Err(ExitError::error(message).hint("name another folder: `rival init my-workflows`").into());
    }
    for (name, text) in FILES {
        write(&folder.join(name), text)?;
    }
    greet(out, folder)
}

fn write(file: &Path, text: &str) -> Result<()> {
    let written = || -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        // Fails if another process has made the file since the check.
        fs::File::create_new(file)?.write_all(text.as_bytes())
    };
    written().with_context(|| format!("cannot write {}", file.display()))
}

fn greet(out: &DataOutput, folder: &Path) -> Result<()> {
    let style = out.style;
    let here = folder == Path::new(".");
    let shown = FILES.iter().map(|(name, _)| *name).filter(|name| !name.starts_with(".rival/"));
    for name in shown.chain([".rival/types"]) {
        let path = if here { Path::new(name).to_owned() } else { folder.join(name) };
        out.line(format_args!("  {}", path.display()))?;
    }
    let enter = if here { String::new() } else { format!("  cd {}\n", folder.display()) };
    out.line(format_args!(
        "\nNext:\n{enter}  rival test     {}\n  rival dev      {}\n  rival run hello --input '{{\"name\": \"Ada\"}}' --wait     {}",
        style.dim("# run its test"),
        style.dim("# a server that loads files again when you save them"),
        style.dim("# in a second terminal"),
    ))
}
