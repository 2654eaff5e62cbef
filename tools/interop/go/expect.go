package main

import (
	"errors"
	"fmt"
	"reflect"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
	ierror "github.com/apache/iggy/foreign/go/errors"
)

// check fails the case on an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must fails the case on an error and otherwise gives the value.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// equal fails the case when the two differ, and says both.
func equal(what string, seen, wanted any) {
	if !reflect.DeepEqual(seen, wanted) {
		panic(fmt.Sprintf("%s: %.300s, expected %.300s", what, fmt.Sprint(seen), fmt.Sprint(wanted)))
	}
}

// that fails the case when the fact does not hold.
func that(holds bool, format string, values ...any) {
	if !holds {
		panic(fmt.Sprintf(format, values...))
	}
}

// refused fails the case unless the error is the server's with this code.
func refused(what string, err error, code uint32) {
	var coded ierror.IggyError
	if !errors.As(err, &coded) || uint32(coded.Code()) != code {
		panic(fmt.Sprintf("%s: %v, expected error %d", what, err, code))
	}
}

// id names a stream, topic or consumer by number or text.
func id[T uint32 | string](value T) iggcon.Identifier {
	return must(iggcon.NewIdentifier(value))
}

// partition gives the address of a partition number, as the client wants it.
func partition(number uint32) *uint32 { return &number }
