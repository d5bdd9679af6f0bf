// Loaded before each test file: the first hook that is registered is the last that runs.
import { afterAll } from 'vitest'
import { endFile } from '../ends.ts'

afterAll(endFile)
