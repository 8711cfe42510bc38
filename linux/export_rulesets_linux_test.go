package linux

var OpenUnlinked = openUnlinked
