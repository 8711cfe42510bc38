package main

// Main is main, for the tests that start this program as a user would.
var Main = main
