module millrace/interop

go 1.25.0

require github.com/apache/iggy/foreign/go v0.9.0
