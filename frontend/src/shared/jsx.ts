// What a tag in a view becomes in the bundle: a call whose children are arguments is shorter than one with a
// property.
export { Fragment, h } from "preact";
