import { describe, expect, test } from 'vitest'
import { parseEnvironment } from '#cli/environment.ts'
import { UsageError } from '#cli/usage-error.ts'

describe('the environment', () => {
  test('may be empty: everything has a safe default, and listens to this machine alone', () => {
    expect(parseEnvironment({}, '/srv/data')).toEqual({
      storeUrl: 'file:///srv/data/store',
      privateStoreUrl: 'file:///srv/data/store.private',
      host: '127.0.0.1',
      historyPort: 8080,
      publicBaseUrl: null,
      allowedOrigins: [],
      deprecatedAtMs: null,
      sunsetAtMs: null,
    })
  })

  test('takes an empty variable for one that is not set', () => {
    const empty = {
      STORE_URL: '',
      PRIVATE_STORE_URL: '',
      HISTORY_PORT: '',
      SUNSET_AT: '',
      PUBLIC_BASE_URL: '',
    }
    expect(parseEnvironment(empty, '/srv/data')).toEqual(parseEnvironment({}, '/srv/data'))
  })

  test('is taken as it says', () => {
    const env = {
      STORE_URL: 'file:///var/lib/highwater/',
      HOST: '0.0.0.0',
      HISTORY_PORT: '0',
      PUBLIC_BASE_URL: 'https://data.example.org/',
      ALLOWED_ORIGINS: ' https://a.example.org , http://localhost:3000,',
      DEPRECATED_AT: '2027-01-31T00:00:00Z',
      SUNSET_AT: '2027-06-30T00:00:00Z',
    }
    expect(parseEnvironment(env, '/srv/data')).toEqual({
      storeUrl: 'file:///var/lib/highwater/',
      privateStoreUrl: 'file:///var/lib/highwater.private',
      host: '0.0.0.0',
      historyPort: 0,
      publicBaseUrl: 'https://data.example.org',
      allowedOrigins: ['https://a.example.org', 'http://localhost:3000'],
      deprecatedAtMs: Date.UTC(2027, 0, 31),
      sunsetAtMs: Date.UTC(2027, 5, 30),
    })
  })

  test('with many faults tells all of them at once: the name, what was expected, what it holds', () => {
    const env = {
      STORE_URL: 'ftp://elsewhere',
      PRIVATE_STORE_URL: 'not a url',
      HISTORY_PORT: '70000',
      PUBLIC_BASE_URL: 'data.example.org',
      ALLOWED_ORIGINS: 'https://a.example.org/path,nonsense',
      DEPRECATED_AT: 'tomorrow',
      SUNSET_AT: '2027-02-30T00:00:00Z',
    }
    expect(() => parseEnvironment(env, '/srv/data')).toThrow(
      new UsageError(
        [
          'the environment is not fit:',
          '  STORE_URL: expected a store such as file:///var/lib/highwater, got "ftp://elsewhere"',
          '  PRIVATE_STORE_URL: expected a store such as file:///var/lib/highwater.private, got "not a url"',
          '  HISTORY_PORT: expected a port from 0 to 65535, got "70000"',
          '  PUBLIC_BASE_URL: expected an address such as https://data.example.org, got "data.example.org"',
          '  ALLOWED_ORIGINS: expected origins such as https://www.example.org, separated by commas, got ' +
            '"https://a.example.org/path,nonsense"',
          '  DEPRECATED_AT: expected an instant such as 2027-01-31T00:00:00Z, got "tomorrow"',
          '  SUNSET_AT: expected an instant such as 2027-06-30T00:00:00Z, got "2027-02-30T00:00:00Z"',
        ].join('\n'),
      ),
    )
  })

  test.each(['-1', '80.5', 'http', '65536'])('refuses the port %j', port => {
    expect(() => parseEnvironment({ HISTORY_PORT: port }, '/srv/data')).toThrow(UsageError)
  })
})
