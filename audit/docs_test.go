package audit_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"skillrun/audit"
)

// Every member that a record can have is in the documentation.
func TestEveryMemberIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../docs/audit.md")
	check(t, err)
	_, doc, found := strings.Cut(string(b), "## Records")
	if !found {
		t.Fatal("docs/audit.md has no section Records")
	}
	sections := map[string]string{}
	for s := range strings.SplitSeq(doc, "\n### ") {
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "`"), "`")
		sections[name] = s
	}
	var look func(section string, typ reflect.Type)
	look = func(section string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%s.%s has no name in the file", typ, f.Name)
			}
			text := sections[section]
			if section != "run.start" {
				text += sections["run.start"] // for the parts that they share
			}
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("%s: `%s` is not documented", section, name)
			}
			sub := f.Type
			for sub.Kind() == reflect.Slice || sub.Kind() == reflect.Pointer {
				sub = sub.Elem()
			}
			if sub.Kind() == reflect.Struct && sub.PkgPath() == reflect.TypeFor[audit.Start]().PkgPath() {
				look(section, sub)
			}
		}
	}
	for kind, typ := range map[audit.Kind]reflect.Type{
		audit.KindStart: reflect.TypeFor[audit.Start](), audit.KindEnd: reflect.TypeFor[audit.End](), audit.KindDecision: reflect.TypeFor[audit.Decision](),
		audit.KindGrant: reflect.TypeFor[audit.Grant](), audit.KindRepair: reflect.TypeFor[audit.Repair](),
	} {
		if sections[string(kind)] == "" {
			t.Errorf("%s has no section", kind)
			continue
		}
		look(string(kind), typ)
	}
}
