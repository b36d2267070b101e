//! URLs, as the `URL` class has them.

#![expect(clippy::needless_pass_by_value, reason = "rquickjs gives arguments by value")]

use rquickjs::function::Opt;
use rquickjs::{Ctx, Object, Result, String as JsString};
use url::{Url, quirks};

use super::OrNull;
use crate::text;

/// The parts of a URL, or null if it is none.
pub(super) fn parse<'js>(
    ctx: Ctx<'js>,
    input: JsString<'js>,
    base: Opt<Option<JsString<'js>>>,
) -> Result<OrNull<Object<'js>>> {
    let base = base.0.flatten().map(|base| text::plain(&base)).transpose()?;
    let base = match base.as_deref().map(Url::parse) {
        None => None,
        Some(Ok(base)) => Some(base),
        Some(Err(_)) => return Ok(OrNull(None)),
    };
    let url = Url::options().base_url(base.as_ref()).parse(&text::plain(&input)?);
    url.ok().map(|url| parts(ctx, &url)).transpose().map(OrNull)
}

/// The parts of a URL with one of them replaced; null if that is not possible.
pub(super) fn set<'js>(
    ctx: Ctx<'js>,
    href: JsString<'js>,
    part: String,
    value: JsString<'js>,
) -> Result<OrNull<Object<'js>>> {
    let Ok(mut url) = Url::parse(&text::plain(&href)?) else { return Ok(OrNull(None)) };
    match change(&mut url, &part, &text::plain(&value)?) {
        Ok(()) => parts(ctx, &url).map(|parts| OrNull(Some(parts))),
        Err(()) => Ok(OrNull(None)),
    }
}

fn change(url: &mut Url, part: &str, value: &str) -> std::result::Result<(), ()> {
    match part {
        "href" => return quirks::set_href(url, value).map_err(drop),
        "protocol" => return quirks::set_protocol(url, value),
        "username" => return quirks::set_username(url, value),
        "password" => return quirks::set_password(url, value),
        "host" => return quirks::set_host(url, value),
        "hostname" => return quirks::set_hostname(url, value),
        "port" => return quirks::set_port(url, value),
        "pathname" => quirks::set_pathname(url, value),
        "search" => quirks::set_search(url, value),
        "hash" => quirks::set_hash(url, value),
        _ => return Err(()),
    }
    Ok(())
}

fn parts<'js>(ctx: Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let parts = Object::new(ctx)?;
    parts.set("href", quirks::href(url))?;
    parts.set("origin", quirks::origin(url))?;
    parts.set("protocol", quirks::protocol(url))?;
    parts.set("username", quirks::username(url))?;
    parts.set("password", quirks::password(url))?;
    parts.set("host", quirks::host(url))?;
    parts.set("hostname", quirks::hostname(url))?;
    parts.set("port", quirks::port(url))?;
    parts.set("pathname", quirks::pathname(url))?;
    parts.set("search", quirks::search(url))?;
    parts.set("hash", quirks::hash(url))?;
    Ok(parts)
}
