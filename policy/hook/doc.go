// Package hook speaks the hook protocols of agents: it reads what an agent says
// before and after it uses a tool, and writes the answer in that agent's own
// words. It decides nothing.
//
//	stdin --Agent.Read--> Event --(a decision)--> Answer --Agent.Reply--> stdout, stderr, exit code
//
// Agents differ in what they take for an answer, and most run the tool when they
// do not understand it. So whatever goes wrong is answered with the agent's own
// refusal ([Agent.Refuse]), and no form is sent that one of them rejects.
//
// It also installs the program in an agent's settings, and takes it out again
// ([Settings.Install], [Settings.Remove]).
package hook
