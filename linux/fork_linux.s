// Empty: its presence lets the package declare functions without a body.
