//! Transforms, compiled. The worlds that they run in cannot compile.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::module::{Declared, Module};
use rquickjs::{CatchResultExt, Context, Ctx, WriteOptions};

use super::cell::{self, CellLimits, NoOutput};
use crate::control::LoopWatch;
use crate::error;
use crate::frame::ScriptError;

/// The name of every transform's module, as stack traces show it.
pub(super) const NAME: &str = "transform";
/// How much is kept, in bytes of code and bytecode.
const KEPT: usize = 16 * 1024 * 1024;

/// Bytecode by code, the oldest let go first.
#[derive(Debug, Default)]
pub(super) struct BytecodeCache {
    known: HashMap<Rc<str>, Rc<[u8]>>,
    order: VecDeque<Rc<str>>,
    bytes: usize,
}

impl BytecodeCache {
    pub(super) fn of(
        &mut self,
        code: String,
        limits: CellLimits,
        watch: &Arc<LoopWatch>,
    ) -> Result<Rc<[u8]>, Box<ScriptError>> {
        if let Some(bytecode) = self.known.get(code.as_str()) {
            return Ok(Rc::clone(bytecode));
        }
        let bytecode: Rc<[u8]> = compile(&code, limits, watch)?.into();
        self.keep(code.into(), Rc::clone(&bytecode));
        Ok(bytecode)
    }

    fn keep(&mut self, code: Rc<str>, bytecode: Rc<[u8]>) {
        self.bytes += code.len() + bytecode.len();
        self.order.push_back(Rc::clone(&code));
        self.known.insert(code, bytecode);
        while self.bytes > KEPT {
            let Some(oldest) = self.order.pop_front() else { return };
            let bytecode = self.known.remove(&oldest).map_or(0, |bytecode| bytecode.len());
            self.bytes -= oldest.len() + bytecode;
        }
    }
}

fn compile(code: &str, limits: CellLimits, watch: &Arc<LoopWatch>) -> Result<Vec<u8>, Box<ScriptError>> {
    let (runtime, guard) = cell::runtime(watch)?;
    guard.limit(limits);
    let context = Context::full(&runtime).map_err(|_| Box::new(error::out_of_memory()))?;
    let compiled = context.with(|ctx| {
        let declared = Module::declare(ctx.clone(), NAME, code);
        let written = declared.and_then(|module| module.write(WriteOptions::default()));
        written.catch(&ctx).map_err(|caught| NoOutput::Thrown(Box::new(error::thrown(&ctx, caught))))
    });
    guard.judge(compiled)
}

#[expect(unsafe_code, reason = "the only way to use bytecode")]
pub(super) fn load<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> rquickjs::Result<Module<'js, Declared>> {
    // SAFETY: `bytecode` comes from `compile` in this process, by the same QuickJS, and was nowhere else.
    unsafe { Module::load(ctx.clone(), bytecode) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let mut codes = BytecodeCache::default();
        for n in 0..100 {
            codes.keep(n.to_string().into(), vec![0; KEPT / 10].into());
            assert!(codes.bytes <= KEPT && codes.order.len() == codes.known.len());
        }
        assert_eq!(codes.known.len(), 9);
        assert!(codes.known.contains_key("99") && !codes.known.contains_key("90"));
    }
}
