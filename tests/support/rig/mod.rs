//! The rig under every test that runs the real client: the client itself, a scratch folder for it
//! to live in, and a Messages API on loopback that others write the lines for. It must not know
//! what a test wants to see.

pub(crate) mod client;
pub(crate) mod message;
pub(crate) mod messages_api;
pub(crate) mod request;
pub(crate) mod scratch;
mod sse;
pub(crate) mod terminal;
