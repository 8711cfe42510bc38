package sandboxtest

// Lacks is how many there are.
const Lacks = lacks
