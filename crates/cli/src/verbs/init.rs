//! `init`: a project to begin with.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::exit::ExitError;
use crate::out::{DataOutput, note};

/// What is written, in the order in which it is shown.
const FILES: [(&str, &str); 11] = [
    ("workflows/hello.ts", include_str!("../project/hello.ts")),
    ("tests/hello.test.ts", include_str!("../project/hello.test.ts")),
    ("rival.toml", include_str!("../project/rival.toml")),
    ("tsconfig.json", include_str!("../project/tsconfig.json")),
    (".gitignore", include_str!("../project/gitignore")),
    ("README.md", include_str!("../project/README.md")),
    (".rival/types/README.md", include_str!("../project/types.md")),
    (".rival/types/rival.d.ts", rival_script::types::RIVAL),
    (".rival/types/rival-document.d.ts", rival_script::types::RIVAL_DOCUMENT),
    (".rival/types/rival-test.d.ts", rival_script::types::RIVAL_TEST),
    (".rival/types/zod.d.ts", rival_script::types::ZOD),
];

/// Files that any project has: where they are, they stay as they are, and this is to be done instead, if anything.
const SHARED: [(&str, &str); 3] = [
    (
        "tsconfig.json",
        "for the types of your editor, give its compilerOptions these paths:\n      \
         \"paths\": { \"rival\": [\"./.rival/types/rival.d.ts\"], \"rival/*\": [\"./.rival/types/rival-*.d.ts\"] }\n    \
         and include \".rival/types/*.d.ts\"; \"moduleResolution\" is \"Bundler\"",
    ),
    (".gitignore", "add data/, where runs are kept"),
    ("README.md", ""),
];

pub(crate) fn init(out: &DataOutput, folder: &Path) -> Result<()> {
    let (kept, refused): (Vec<&str>, Vec<&str>) = FILES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| folder.join(name).exists())
        .partition(|name| SHARED.iter().any(|(shared, _)| shared == name));
    if !refused.is_empty() {
        let there = refused;
        let more = if there.len() > 1 {
            format!(" and {} more of its files", there.len() - 1)
        } else {
            String::new()
        };
        let message = format!("{} has {}{more} already: nothing was written", folder.display(), there[0]);
        return Err(ExitError::error(message).hint("name another folder: `rival init my-workflows`").into());
    }
    for (name, text) in FILES.iter().filter(|(name, _)| !kept.contains(name)) {
        write(&folder.join(name), text)?;
    }
    greet(out, folder, &kept)
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

fn greet(out: &DataOutput, folder: &Path, kept: &[&str]) -> Result<()> {
    let style = out.style;
    let here = folder == Path::new(".");
    let written = |name: &&str| !name.starts_with(".rival/") && !kept.contains(name);
    let shown = FILES.iter().map(|(name, _)| *name).filter(written);
    for name in shown.chain([".rival/types"]) {
        let path = if here { Path::new(name).to_owned() } else { folder.join(name) };
        out.line(format_args!("  {}", path.display()))?;
    }
    for (name, instead) in SHARED.iter().filter(|(name, _)| kept.contains(name)) {
        let instead = if instead.is_empty() { String::new() } else { format!(": {instead}") };
        note(format_args!("{name} was there and is left as it was{instead}"));
    }
    let enter = if here { String::new() } else { format!("  cd {}\n", folder.display()) };
    out.line(format_args!(
        "\nNext:\n{enter}  rival test     {}\n  rival dev      {}\n  rival run hello --input '{{\"name\": \"Ada\"}}' --wait     {}",
        style.dim("# run its test"),
        style.dim("# a server that loads files again when you save them"),
        style.dim("# in a second terminal"),
    ))
}
