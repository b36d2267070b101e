//! Confinement of a host's process by the kernel: whatever a script makes of a fault in QuickJS or in a library, the process
//! starts no program, changes no file, reads none but what TLS and name resolution need, and takes no connection.
//!
//! Each part is applied where the kernel has it. What is in force is told to the parent.

use serde::{Deserialize, Serialize};

/// What the kernel keeps a host from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostConfinement {
    /// What is in force, in a few words each.
    pub in_force: Vec<String>,
    /// What is not, and why.
    pub missing: Vec<String>,
}

impl HostConfinement {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is applied there"))]
    fn note(&mut self, what: &str, applied: Result<(), String>) {
        match applied {
            Ok(()) => self.in_force.push(what.to_owned()),
            Err(why) => self.missing.push(format!("{what}: {why}")),
        }
    }
}

/// Confines this process, as far as the kernel can. To be called before there are other threads, and before any code of
/// others runs.
pub fn confine() -> HostConfinement {
    #[cfg(target_os = "linux")]
    return linux::confine();
    #[cfg(not(target_os = "linux"))]
    HostConfinement {
        in_force: Vec::new(),
        missing: vec!["confinement of script hosts: this system is not Linux".to_owned()],
    }
}

/// Lets the process have some gigabytes of addresses more than JavaScript may hold: what goes wrong outside of its meter ends
/// this process, and not the machine.
pub(crate) fn limit_memory(memory_limit: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        const BESIDES: u64 = 4 << 30;
        let most = (memory_limit as u64).saturating_mul(2).saturating_add(BESIDES);
        let Rlimit { current, maximum } = getrlimit(Resource::As);
        let most = maximum.map_or(most, |maximum| maximum.min(most));
        if current.is_none_or(|current| current > most) {
            // A limit that cannot be lowered is lower already.
            let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory_limit;
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
    };
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::HostConfinement;

    /// Enough for some thousands of requests at once.
    const FILES_MAX: u64 = 8192;

    /// What TLS and name resolution read: certificates, the resolver's settings, and the C library's modules for it.
    const READABLE: &[&str] = &[
        "/etc/ssl",
        "/etc/pki",
        "/etc/ca-certificates",
        "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates",
        "/usr/lib/ssl",
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/host.conf",
        "/etc/nsswitch.conf",
        "/etc/gai.conf",
        "/etc/services",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/localtime",
        "/run/systemd/resolve",
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/dev/null",
        "/dev/urandom",
    ];

    pub(super) fn confine() -> HostConfinement {
        let mut done = HostConfinement::default();
        done.note("limits of the process", limits());
        done.note("no new privileges", no_new_privileges());
        done.note("files out of reach (Landlock)", files());
        done.note("system calls filtered (seccomp)", system_calls());
        done
    }

    fn limits() -> Result<(), String> {
        lower(Resource::Core, 0)?;
        lower(Resource::Nofile, FILES_MAX)
    }

    fn lower(resource: Resource, to: u64) -> Result<(), String> {
        let most = getrlimit(resource).maximum.map_or(to, |maximum| maximum.min(to));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|error| error.to_string())
    }

    fn no_new_privileges() -> Result<(), String> {
        rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())
    }

    fn files() -> Result<(), String> {
        let said = |error: landlock::RulesetError| error.to_string();
        let abi = ABI::V6;
        let rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))
            .and_then(|rules| rules.handle_access(AccessNet::BindTcp))
            .and_then(|rules| rules.scope(Scope::AbstractUnixSocket))
            .and_then(|rules| rules.scope(Scope::Signal))
            .map_err(said)?;
        let rules = rules.create().map_err(said)?;
        let readable = AccessFs::ReadFile | AccessFs::ReadDir;
        let rules = rules.add_rules(path_beneath_rules(READABLE, readable)).map_err(said)?;
        let status = rules.restrict_self().map_err(said)?;
        match (status.ruleset, status.landlock) {
            // What a kernel lacks is about later kinds of access; files are closed by the first version.
            (RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced, _) => Ok(()),
            (_, LandlockStatus::NotEnabled) => Err("the kernel has it, and it is not enabled".to_owned()),
            _ => Err("the kernel does not have it".to_owned()),
        }
    }

    fn system_calls() -> Result<(), String> {
        let said = |error: seccompiler::Error| error.to_string();
        // The C library tries the older call when it is told that there is no newer one; the older shows its flags.
        let absent = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
        let absent = program(absent.into(), libc::ENOSYS.unsigned_abs())?;
        let denied = program(denied()?, libc::EPERM.unsigned_abs())?;
        seccompiler::apply_filter(&absent).map_err(said)?;
        seccompiler::apply_filter(&denied).map_err(said)
    }

    type FilterRules = BTreeMap<i64, Vec<SeccompRule>>;

    fn program(rules: FilterRules, errno: u32) -> Result<BpfProgram, String> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
        let refuse = SeccompAction::Errno(errno);
        let filter = SeccompFilter::new(with_x32(rules), SeccompAction::Allow, refuse, arch);
        filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())
    }

    /// The calls of x86_64 have a second set of numbers, which some kernels take.
    fn with_x32(mut rules: FilterRules) -> FilterRules {
        const X32: i64 = 0x4000_0000;
        if cfg!(target_arch = "x86_64") {
            let others: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
            rules.extend(others);
        }
        rules
    }

    fn denied() -> Result<FilterRules, String> {
        let mut rules: FilterRules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
        #[cfg(target_arch = "x86_64")]
        {
            rules.extend(NEVER_OLD.iter().map(|call| (*call, Vec::new())));
            rules.insert(libc::SYS_open, opens_to_write(1)?);
        }
        rules.insert(libc::SYS_openat, opens_to_write(2)?);
        rules.insert(libc::SYS_clone, vec![rule(&[(0, SeccompCmpOp::MaskedEq(THREAD), 0)])?]);
        rules.insert(libc::SYS_socket, vec![rule(&FAMILIES.map(|family| (0, SeccompCmpOp::Ne, family)))?]);
        Ok(rules)
    }

    const THREAD: u64 = libc::CLONE_THREAD.unsigned_abs() as u64;

    /// TCP and UDP; and how the C library learns which addresses the machine has.
    const FAMILIES: [u64; 3] = [
        libc::AF_INET.unsigned_abs() as u64,
        libc::AF_INET6.unsigned_abs() as u64,
        libc::AF_NETLINK.unsigned_abs() as u64,
    ];

    /// Flags at this place that let a file be changed or made.
    fn opens_to_write(at: u8) -> Result<Vec<SeccompRule>, String> {
        let flag = |mask: libc::c_int, value: libc::c_int| {
            let (mask, value) = (u64::from(mask.unsigned_abs()), u64::from(value.unsigned_abs()));
            rule(&[(at, SeccompCmpOp::MaskedEq(mask), value)])
        };
        Ok(vec![
            flag(libc::O_ACCMODE, libc::O_WRONLY)?,
            flag(libc::O_ACCMODE, libc::O_RDWR)?,
            flag(libc::O_CREAT, libc::O_CREAT)?,
            flag(libc::O_TRUNC, libc::O_TRUNC)?,
        ])
    }

    fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, String> {
        let condition = |(at, op, value): &(u8, SeccompCmpOp, u64)| {
            SeccompCondition::new(*at, SeccompCmpArgLen::Dword, op.clone(), *value)
        };
        let conditions: Result<Vec<_>, _> = conditions.iter().map(condition).collect();
        conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())
    }

    /// What a host never does.
    const NEVER: &[i64] = &[
        // Other programs and processes.
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_kill,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_send_signal,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
        // Connections from elsewhere.
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        // Changes of files.
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_mkdirat,
        libc::SYS_mknodat,
        libc::SYS_truncate,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        // The system around it.
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_quotactl,
        libc::SYS_acct,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_personality,
        libc::SYS_fanotify_init,
        libc::SYS_memfd_create,
        libc::SYS_syslog,
        // Who it is.
        libc::SYS_setuid,
        libc::SYS_setgid,
        libc::SYS_setreuid,
        libc::SYS_setregid,
        libc::SYS_setresuid,
        libc::SYS_setresgid,
        libc::SYS_setgroups,
        libc::SYS_capset,
    ];

    /// Calls that newer machines do not have.
    #[cfg(target_arch = "x86_64")]
    const NEVER_OLD: &[i64] = &[
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_creat,
        libc::SYS_unlink,
        libc::SYS_rmdir,
        libc::SYS_rename,
        libc::SYS_renameat,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_mkdir,
        libc::SYS_mknod,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_iopl,
        libc::SYS_ioperm,
        libc::SYS_modify_ldt,
        libc::SYS_kexec_file_load,
    ];
}
