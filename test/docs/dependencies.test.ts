// The page of libraries says of each why it is there, and of none that is gone.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import project from '../../package.json' with { type: 'json' }

const PAGE = join(import.meta.dirname, '../../docs/decisions/2026-11-21-dependencies.md')

test('every library that package.json names has its row, with what it is for, and no other has', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| (?!Library)([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)]
  const { dependencies, devDependencies, optionalDependencies } = project
  const named = rows.flatMap(([, names = '']) => names.split(', ').map(name => name.split(' ')[0]))
  expect(named.sort()).toEqual(
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).sort(),
  )
})
