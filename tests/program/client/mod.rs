//! What the program takes from the client, and how it starts it.

mod hook_input;
mod sealed_call;
mod settings;
