package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"unsafe"

	"skillrun/profiles"
)

// pack appends plain data to b, as bytes that differ where the data does:
// booleans, numbers, strings, and slices, arrays, maps, pointers and structs of
// them, no interfaces but nil, fields of a struct in order, unexported ones too. A regular expression
// counts for nothing: its source text stands beside it wherever one is kept.
func pack(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.String:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			b = pack(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = pack(b, v.Field(i))
		}
		return b
	case reflect.Pointer, reflect.Interface:
		if v.Type() == regularExpression {
			return b
		}
		if v.IsNil() {
			return append(b, 0)
		}
		if v.Kind() == reflect.Interface {
			break
		}
		return pack(append(b, 1), v.Elem())
	case reflect.Map:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		var entries []string
		for it := v.MapRange(); it.Next(); {
			entries = append(entries, string(pack(pack(nil, it.Key()), it.Value())))
		}
		slices.Sort(entries)
		for _, e := range entries {
			b = append(b, e...)
		}
		return b
	}
	panic(fmt.Sprintf("pack: %s is not plain data", v.Type()))
}

var regularExpression = reflect.TypeFor[*regexp.Regexp]()

var errPacked = errors.New("not what was packed")

// unpacker reads back what pack wrote of values without maps and unexported
// fields. Strings share the memory of data.
type unpacker struct {
	data string
	err  error
}

func newUnpacker(data []byte) *unpacker {
	return &unpacker{data: unsafe.String(unsafe.SliceData(data), len(data))}
}

// value reads one value into v.
func (u *unpacker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(u.uint() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := u.uint()
		v.SetInt(int64(n>>1) ^ -int64(n&1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(u.uint())
	case reflect.String:
		v.SetString(u.string())
	case reflect.Slice:
		n := u.uint()
		// No element is packed into less than a byte.
		if n == 0 || u.err != nil || n-1 > uint64(len(u.data)) {
			u.check(n == 0)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), int(n-1), int(n-1)))
		if u.rules(v.Addr().Interface()) {
			return
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			u.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			u.value(v.Field(i))
		}
	case reflect.Interface:
		u.check(u.uint() == 0) // nil is all that is packed of one
	default:
		u.check(false)
	}
}

// rules reads the elements of a list, if it is one of those that hold nearly all of
// a profile, as value would, in a tenth of the time: a launch waits.
func (u *unpacker) rules(list any) bool {
	switch list := list.(type) {
	case *[]profiles.PathRule:
		for i := range *list {
			r := &(*list)[i]
			r.Path, r.Tree, r.Access, r.Origin = u.string(), u.uint() != 0, profiles.Access(u.uint()), u.origin()
		}
	case *[]profiles.Denial:
		for i := range *list {
			d := &(*list)[i]
			d.Path, d.Match, d.Access = u.string(), u.string(), profiles.Access(u.uint())
			u.value(reflect.ValueOf(&d.Except).Elem())
			d.UnlessMade, d.UnlessWithin, d.Class, d.Origin, d.AnyCase = u.uint() != 0, u.uint() != 0, profiles.Class(u.uint()), u.origin(), u.uint() != 0
		}
	case *[]profiles.EnvRule:
		for i := range *list {
			r := &(*list)[i]
			r.Name, r.Origin = u.string(), u.origin()
		}
	default:
		return false
	}
	return true
}

func (u *unpacker) origin() profiles.Origin {
	return profiles.Origin{Source: u.string(), Capability: u.string(), Reason: u.string()}
}

func (u *unpacker) check(ok bool) {
	if !ok {
		u.err, u.data = errPacked, ""
	}
}

func (u *unpacker) uint() uint64 {
	if len(u.data) > 0 && u.data[0] < 0x80 { // as nearly all are
		n := u.data[0]
		u.data = u.data[1:]
		return uint64(n)
	}
	var n uint64
	for i := 0; i < len(u.data) && i < binary.MaxVarintLen64; i++ {
		c := u.data[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.data = u.data[i+1:]
			return n
		}
	}
	u.check(false)
	return 0
}

func (u *unpacker) string() string {
	n := u.uint()
	if n > uint64(len(u.data)) {
		u.check(false)
		return ""
	}
	s := u.data[:n]
	u.data = u.data[n:]
	return s
}
