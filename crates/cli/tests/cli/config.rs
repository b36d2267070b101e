//! Where settings come from, and what is said of wrong ones.

use expect_test::expect;

use crate::lab::Lab;

fn value(lab: &Lab, args: &[&str], env: &[(&str, &str)], key: &str) -> (String, String) {
    let mut command = lab.command(&["config", "print", "-o", "json"]);
    command.env_remove("RIVAL_LISTEN").args(args).envs(env.iter().copied());
    let all = lab.execute(command).json();
    let entry = all.as_array().unwrap().iter().find(|entry| entry["key"] == key).unwrap().clone();
    (entry["value"].as_str().unwrap_or_default().to_owned(), entry["from"].as_str().unwrap().to_owned())
}

#[test]
fn flags_come_before_the_environment_before_the_file_before_defaults() {
    let lab = Lab::offline();
    let (flag, env) = (["--listen", "127.0.0.1:4"], [("RIVAL_LISTEN", "127.0.0.1:3")]);
    let listen = |args: &[&str], env: &[(&str, &str)]| value(&lab, args, env, "listen");
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    assert_eq!(listen(&[], &[]), pair("127.0.0.1:7878", "default"));
    lab.write("rival.toml", "# where\nlisten = \"127.0.0.1:2\"\n");
    assert_eq!(listen(&[], &[]), pair("127.0.0.1:2", "rival.toml:2"));
    assert_eq!(listen(&[], &env), pair("127.0.0.1:3", "RIVAL_LISTEN"));
    assert_eq!(listen(&flag, &env), pair("127.0.0.1:4", "--listen"));
    // Another file, by flag and by variable.
    lab.write("other.toml", "listen = \"127.0.0.1:5\"\n");
    assert_eq!(listen(&["--config", "other.toml"], &[]), pair("127.0.0.1:5", "other.toml:1"));
    assert_eq!(listen(&[], &[("RIVAL_CONFIG", "other.toml")]), pair("127.0.0.1:5", "other.toml:1"));
}

#[test]
fn every_setting_is_shown_with_where_it_comes_from() {
    let lab = Lab::offline();
    let file = "allowed_hosts = [\"rival.example\", \"ops.example:8443\"]\nmax_live_runs = 1_500\nbody_max_bytes = \"2MiB\"\nrequire_token = true\n";
    lab.write("rival.toml", file);
    let mut command = lab.command(&["config", "print", "--shutdown-grace", "90s"]);
    command.env("RIVAL_TOKEN", "rvl_secret");
    let printed = lab.execute(command);
    assert!(!printed.out.contains("rvl_secret"));
    printed.is(&expect![[r#"
        KEY  VALUE  FROM
        listen  127.0.0.1:1  RIVAL_LISTEN
        base_path  /  default
        store  data/rival.db  default
        tokens  data/tokens.json  default
        require_token  true  rival.toml:4
        admin_token  default
        allowed_hosts  rival.example, ops.example:8443  rival.toml:1
        allowed_origins  default
        body_max_bytes  2097152  rival.toml:3
        requests_per_second  default
        stream_clients_max  1000  default
        connections_max  16384  default
        max_live_runs  1500  rival.toml:2
        max_payload_bytes  16777216  default
        workflows  default
        script_env  default
        script_hosts  default
        script_imports  default
        script_memory  536870912  default
        outgoing_allow  default
        connection_commands  false  default
        connection_secrets  default
        shutdown_grace  90s  --shutdown-grace
        shutdown_delay  0ms  default
        log  info  default
        log_format  json where there is no terminal  default
        url  <url>  default
        token  (set, not shown)  RIVAL_TOKEN
    "#]]);
}

#[test]
fn unknown_settings_in_the_file_are_refused_with_a_suggestion() {
    let lab = Lab::offline();
    lab.write(
        "rival.toml",
        "listn = \"127.0.0.1:1\"\n\nstore = \"x.db\"\nsomething = 1\n[section]\nkey = 1\n",
    );
    lab.rival(&["config", "print"]).is(&expect![[r#"
        ! error: rival.toml:1: there is no setting `listn`; did you mean `listen`?
        ! rival.toml:4: there is no setting `something`
        ! rival.toml:5: there is no setting `section`
        ! hint: `rival serve --help` lists the settings
        exit 2
    "#]]);
}

#[test]
fn unknown_variables_are_warned_of() {
    let lab = Lab::offline();
    let mut command = lab.command(&["config", "print", "-o", "ids"]);
    command.env("RIVAL_SHUTDOWN_GRACES", "1s");
    let printed = lab.execute(command);
    assert_eq!(printed.code, 0);
    expect![[r#"
        warning: the variable RIVAL_SHUTDOWN_GRACES is not one of Rival's; did you mean `RIVAL_SHUTDOWN_GRACE`?
    "#]].assert_eq(&printed.err);
}

#[test]
fn wrong_values_say_what_is_expected_and_where_they_are() {
    let lab = Lab::offline();
    lab.write("rival.toml", "listen = 7878\nshutdown_grace = \"soon\"\nrequests_per_second = -1\nlog_format = \"xml\"\nurl = \"ftp://x\"\n");
    let mut command = lab.command(&["config", "print", "--max-live-runs", "many"]);
    command.env_remove("RIVAL_LISTEN").env("RIVAL_BODY_MAX_BYTES", "1 elephant").env("RIVAL_LOG", "a=b=c");
    lab.execute(command).is(&expect![[r#"
        ! error: rival.toml:1: `7878` is no value for `listen`: expected an address with a port, such as 127.0.0.1:7878
        ! RIVAL_BODY_MAX_BYTES: `1 elephant` is no value for `body_max_bytes`: expected a number of bytes, such as 1048576, 512KiB or 16MiB
        ! rival.toml:3: `-1` is no value for `requests_per_second`: expected a whole number, or 0 for no limit
        ! --max-live-runs: `many` is no value for `max_live_runs`: expected a whole number from 1
        ! rival.toml:2: `soon` is no value for `shutdown_grace`: expected a length of time such as 500ms, 30s, 5m, 1h
        ! RIVAL_LOG: `a=b=c` is no value for `log`: expected a log filter, such as info or warn,rival_engine=debug
        ! rival.toml:4: `xml` is no value for `log_format`: expected text or json
        ! rival.toml:5: `ftp://x` is no value for `url`: expected an address such as http://127.0.0.1:7878
        ! hint: `rival serve --help` lists the settings
        exit 2
    "#]]);
    lab.write("rival.toml", "listen = \n");
    lab.rival(&["list"]).is(&expect![[r#"
        ! error: rival.toml:1: string values must be quoted, expected literal string
        ! hint: `rival serve --help` lists the settings
        exit 2
    "#]]);
    lab.rival(&["list", "--config", "absent.toml"]).is(&expect![[r#"
        ! error: cannot read the settings in absent.toml: No such file or directory (os error 2)
        ! hint: `rival serve --help` lists the settings
        exit 2
    "#]]);
}
