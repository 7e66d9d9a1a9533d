//! Which readers are asked, what they may cost, and what their answers lead to.

mod budget;
mod cost;
mod first;
mod second;
