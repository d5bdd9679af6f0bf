// The last sixty nights of the whole sample book, with injected changes between them: `make soak PART=nights`.
import { SAMPLE_AS_OF } from '#pipeline/sample/write-sample-book.ts'
import { testNights } from '../support/books/growing-sample.ts'

testNights({ from: 0, last: SAMPLE_AS_OF, nights: 60, pastDay: '2025-03-05' })
