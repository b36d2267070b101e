//! Runs transforms: pure functions from JSON to JSON, in hosts of their own that are killed at the limit.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rival_core::Value;
use rival_script_host::frame::ToHost;
use rival_typescript::Transform;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use crate::call::HostCallError;
use crate::code;
use crate::host::{CallLoss, HostHandle, lock};
use crate::launch::launch;
use crate::settings::ScriptSettings;

/// How long after its limit a transform that does not end is killed with its host.
const GRACE: Duration = Duration::from_millis(20);

/// What a transform may use.
#[derive(Clone, Copy, Debug)]
pub struct TransformLimits {
    /// How long it may take.
    pub time: Duration,
    /// Bytes that it may hold.
    pub memory: usize,
}

impl Default for TransformLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(1), memory: 64 << 20 }
    }
}

/// Why a transform gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// It threw, or returned what is not JSON.
    #[error("{message}")]
    Failed {
        /// A stable word.
        code: String,
        /// One sentence, with the line where it is known.
        message: String,
    },
    /// It did not end in time.
    #[error("the transform took longer than {ms} ms")]
    Timeout {
        /// Its limit.
        ms: u64,
    },
    /// It needed more memory than it may have.
    #[error("the transform needs more than {bytes} bytes of memory")]
    OutOfMemory {
        /// Its limit.
        bytes: usize,
    },
    /// The host ended while the transform was at work.
    #[error("the script host ended while the transform was at work")]
    HostLost,
    /// No host could be started.
    #[error("no script host could run the transform: {0}")]
    Host(String),
}

impl TransformError {
    /// A stable word for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::Failed { code, .. } => code,
            Self::Timeout { .. } => "transform_timeout",
            Self::OutOfMemory { .. } => "out_of_memory",
            Self::HostLost | Self::Host(_) => code::HOST,
        }
    }
}

/// Runs transforms. Cheap to clone; all clones share their hosts.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<SandboxHosts>);

#[derive(Debug)]
struct SandboxHosts {
    settings: ScriptSettings,
    /// One transform at a time on each.
    places: Semaphore,
    idle: Mutex<Vec<Arc<HostHandle>>>,
    /// How many hosts were started.
    started: AtomicU32,
}

impl Sandbox {
    /// Starts no host yet.
    pub fn new(settings: ScriptSettings) -> Self {
        let places = Semaphore::new(settings.hosts.max(1));
        Self(Arc::new(SandboxHosts { settings, places, idle: Mutex::default(), started: AtomicU32::new(0) }))
    }

    /// Runs a transform. The same code and input give the same output, always.
    pub async fn run(
        &self,
        transform: &Transform,
        input: &Value,
        limits: TransformLimits,
    ) -> Result<Value, TransformError> {
        let hosts = &*self.0;
        let _place = hosts.places.acquire().await.expect("nobody closes it");
        let host = hosts.take()?;
        let answer = hosts.ask(&host, transform, input, limits).await;
        match answer {
            Some(answer) => {
                hosts.give_back(host);
                conclude(answer, transform, limits)
            }
            None => {
                host.end();
                Err(TransformError::Timeout { ms: whole_ms(limits.time) })
            }
        }
    }
}

impl SandboxHosts {
    fn take(&self) -> Result<Arc<HostHandle>, TransformError> {
        let mut idle = lock(&self.idle);
        while let Some(host) = idle.pop() {
            if !host.is_gone() && !host.is_closed() {
                return Ok(host);
            }
        }
        drop(idle);
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        // A transform has no `fetch`.
        let (env, outgoing) = Default::default();
        let memory_limit = self.settings.memory_limit;
        let setup = ToHost::Setup { memory_limit, env, outgoing, virtual_time: None };
        let host = launch(&self.settings.hosting, number)
            .and_then(|launched| HostHandle::new(number, launched, &setup, Arc::default()));
        host.map_err(|error| TransformError::Host(error.to_string()))
    }

    fn give_back(&self, host: Arc<HostHandle>) {
        lock(&self.idle).push(host);
    }

    /// The host's answer; none if it gave none in time.
    async fn ask(
        &self,
        host: &Arc<HostHandle>,
        transform: &Transform,
        input: &Value,
        limits: TransformLimits,
    ) -> Option<Result<Box<RawValue>, HostCallError>> {
        let frame = |id| ToHost::Transform {
            id,
            code: transform.code.clone(),
            input: RawValue::from_string(input.as_json().to_owned()).expect("a value is JSON"),
            limit_ms: whole_ms(limits.time),
            memory_limit: limits.memory,
        };
        let call = Arc::clone(host).begin(frame);
        tokio::time::timeout(limits.time + GRACE, call.end()).await.ok()
    }
}

fn conclude(
    answer: Result<Box<RawValue>, HostCallError>,
    transform: &Transform,
    limits: TransformLimits,
) -> Result<Value, TransformError> {
    match answer {
        Ok(value) => Ok(Value::from(value)),
        Err(HostCallError::Lost(CallLoss::Crash | CallLoss::Bystander | CallLoss::Stuck)) => {
            Err(TransformError::HostLost)
        }
        Err(HostCallError::Failed(error)) => Err(match error.code.as_deref() {
            Some("transform_timeout") => TransformError::Timeout { ms: whole_ms(limits.time) },
            Some("out_of_memory") => TransformError::OutOfMemory { bytes: limits.memory },
            code => {
                let code = code.unwrap_or("error").to_owned();
                let line = error.stack.as_deref().and_then(|stack| line_of(stack, transform));
                let message = match line {
                    Some(line) => format!("line {line}: {}", error.message),
                    None => error.message,
                };
                TransformError::Failed { code, message }
            }
        }),
    }
}

/// The line in TypeScript of the place where something was thrown: the first `:line:column` of the stack.
fn line_of(stack: &str, transform: &Transform) -> Option<u32> {
    let place = |frame: &str| {
        let mut parts = frame.trim_end_matches(')').rsplit(':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        transform.origin(line, column)
    };
    stack.lines().find_map(place).map(|(line, _)| line)
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
