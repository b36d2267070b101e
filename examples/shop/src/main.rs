//! A little shop, as an MCP server: what the example documents call.
//!
//! An ordinary program, made with the official SDK. It knows nothing of Rival, and any MCP client can call it. Nothing is
//! really charged or sent, and there is no network.
#![allow(clippy::print_stderr, reason = "stdout is the protocol's; stderr is for people")]

use std::sync::atomic::{AtomicU32, Ordering};

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payments above this are declined.
const CREDIT: f64 = 500.0;

/// The orders of a quiet day: number, name of the customer, country, total.
const ORDERS: [(&str, &str, &str, f64); 4] = [
    ("o-1", "Ada", "GB", 120.0),
    ("o-2", "Grace", "US", 42.5),
    ("o-3", "Linus", "FI", 910.0),
    ("o-4", "Margaret", "US", 18.0),
];

#[derive(Serialize, JsonSchema)]
struct Customer {
    name: String,
    email: String,
}

#[derive(Serialize, JsonSchema)]
struct Order {
    id: String,
    customer: Customer,
    /// Two letters.
    country: String,
    /// In euros.
    total: f64,
}

#[derive(Serialize, JsonSchema)]
struct Orders {
    orders: Vec<Order>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Charge {
    /// The order to pay for.
    order_id: String,
}

/// A payment, or why there is none: what is not known is absent.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Charged {
    success: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Order")]
    order: Option<Order>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mail {
    to: String,
    subject: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Currency {
    /// A country, in two letters.
    country: String,
}

#[derive(Serialize, JsonSchema)]
struct Rate {
    currency: String,
    /// How much one euro is.
    rate: f64,
}

#[derive(Default)]
struct Shop {
    mails: AtomicU32,
}

#[tool_router]
impl Shop {
    /// The orders of today
    #[tool(annotations(read_only_hint = true))]
    fn list_orders(&self) -> Json<Orders> {
        Json(Orders { orders: ORDERS.iter().map(|&row| order(row)).collect() })
    }

    /// Charges the customer of an order; declines what is more than 500 euros
    #[tool]
    fn charge(&self, Parameters(Charge { order_id }): Parameters<Charge>) -> Result<Json<Charged>, String> {
        let found = ORDERS.iter().find(|(id, ..)| *id == order_id);
        let known = || ORDERS.map(|(id, ..)| id).join(", ");
        let order =
            order(*found.ok_or_else(|| format!("there is no order {order_id}; there are {}", known()))?);
        let declined = (order.total > CREDIT).then(|| format!("{} is more than {CREDIT}", order.total));
        Ok(Json(Charged { success: declined.is_none(), order: Some(order), error: declined }))
    }

    /// Sends a mail; it says on stderr what it would have sent
    #[tool]
    fn send_mail(
        &self,
        Parameters(Mail { to, subject, text }): Parameters<Mail>,
    ) -> Result<Json<Sent>, String> {
        if !to.contains('@') {
            return Err(format!("`{to}` is no address"));
        }
        let number = self.mails.fetch_add(1, Ordering::Relaxed) + 1;
        eprintln!("mail {number} to {to}: {subject}: {text}");
        Ok(Json(Sent { id: format!("mail-{number}") }))
    }

    /// The currency of a country, and how much one euro is in it
    #[tool(annotations(read_only_hint = true))]
    fn exchange_rate(
        &self,
        Parameters(Currency { country }): Parameters<Currency>,
    ) -> Result<Json<Rate>, String> {
        let (currency, rate) = match country.as_str() {
            "GB" => ("GBP", 0.85),
            "US" => ("USD", 1.1),
            "FI" | "DE" | "FR" => ("EUR", 1.0),
            other => return Err(format!("the currency of `{other}` is not known here")),
        };
        Ok(Json(Rate { currency: currency.to_owned(), rate }))
    }
}

#[tool_handler(name = "shop", version = "1.0.0")]
impl ServerHandler for Shop {}

fn order((id, name, country, total): (&str, &str, &str, f64)) -> Order {
    let email = format!("{}@shop.example", name.to_lowercase());
    let customer = Customer { name: name.to_owned(), email };
    Order { id: id.to_owned(), customer, country: country.to_owned(), total }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Until the client closes stdin.
    Shop::default().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
