/** What a browser says of a new passkey is believed for itself alone. */
import { decodeAttestationObject, isoCBOR } from '@simplewebauthn/server/helpers'
import t, { type Test } from 'tap'
import { registeredPasskey } from '../../../control-plane/accounts/passkeys.ts'

const SITE = { origin: 'http://localhost:8080', rpId: 'localhost' }
const CHALLENGE = Buffer.from('a challenge of this test').toString('base64url')

/** Of the format `android-key`, whose certificate names `http://127.0.0.1:1/` as its list of revoked ones. */
const ATTESTED = JSON.stringify({
  id: 'yUloG7AzGgxnWZUjvPzEBDph1cujv_2ZiF3IIu23kOk',
  rawId: 'yUloG7AzGgxnWZUjvPzEBDph1cujv_2ZiF3IIu23kOk',
  type: 'public-key',
  clientExtensionResults: {},
  response: {
    clientDataJSON:
      'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiWVNCamFHRnNiR1Z1WjJVZ2IyWWdkR2hwY3lCMFpYTjAiLCJvcmlnaW4iOiJodHRwOi8vbG9jYWxob3N0OjgwODAiLCJjcm9zc09yaWdpbiI6ZmFsc2V9',
    // prettier-ignore
    attestationObject: [
      'o2NmbXRrYW5kcm9pZC1rZXlnYXR0U3RtdKNjYWxnJmNzaWdYRnOmZ-zpiRTZ0ks9s8NLBb3hffvHvEQInWVtjbOk9Q16tP8jewmVGtCJg9aVj80GBc5d-1Gs',
      '3mUjFTazoktwJAwbWnOIyUZjeDVjglkBlzCCAZMwggE4oAMCAQICAQIwCgYIKoZIzj0EAwIwEzERMA8GA1UEAxMIQW55IHJvb3QwIBcNMjYwMTAxMDAwMDAw',
      'WhgPMjEyNjAxMDEwMDAwMDBaMBMxETAPBgNVBAMTCEFueSBsZWFmMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEpjbktBqeca0_DEfGrnW5EhKNpMn-9uDE',
      '8zrb97IC0snk-HOOdTTkzmzPIu9i79io101VytH3yz7vKNvV6Q8XBqN7MHkwRAYKKwYBBAHWeQIBEQQ2MDQCAQMKAQACAQMKAQAEIOa6gZfyvGbMi_Rfzkgg',
      'jTt3t019F8DozAQShRlrOb8pBAAwADAAMDEGA1UdHwQqMCgwJqAkoCKGIGh0dHA6Ly8xMjcuMC4wLjE6MS9vZi10aGUtY2xpZW50MAoGCCqGSM49BAMCA0kA',
      'MEYCIQCiaorFJ3WJ7VWWGHJGA8sE1hxv9OuY-i3gh1ZwQx_CcQIhAJeV2HVfdEYhDYHjRKWQ1rEvwYKrW9JkzrzjRyC8SsxRWQEvMIIBKzCB06ADAgECAgEB',
      'MAoGCCqGSM49BAMCMBMxETAPBgNVBAMTCEFueSByb290MCAXDTI2MDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjATMREwDwYDVQQDEwhBbnkgcm9vdDBZ',
      'MBMGByqGSM49AgEGCCqGSM49AwEHA0IABBiDbIkEBXkOSlzE04uoDceVngPnnHRKnazltu4L9NgVqdTIB6kab1X_GIuWUPMMPqymuIkICultrD9bhEUrKsuj',
      'FjAUMBIGA1UdEwEB_wQIMAYBAf8CAQIwCgYIKoZIzj0EAwIDRwAwRAIgLHYtiBvEe5mES-vEb6Aiv8xjBIf1Nl3JWQhohdeNYQQCIC0ar1MFngN3Ljz4dkyK',
      'Ln1HQWH8iSfTDRMeI9oc8YBVaGF1dGhEYXRhWKRJlg3liA6MaHQ0Fw9kdmBbj-SuuaKGMseZXPO6gx2XY0UAAAAA13T9amuT4OYcNIyObD8j-wAgyUloG7Az',
      'GgxnWZUjvPzEBDph1cujv_2ZiF3IIu23kOmlAQIDJiABIVggpjbktBqeca0_DEfGrnW5EhKNpMn-9uDE8zrb97IC0skiWCDk-HOOdTTkzmzPIu9i79io101V',
      'ytH3yz7vKNvV6Q8XBg',
    ].join(''),
    transports: [],
  },
})

type Answer = { response: { attestationObject: string } }

function withObject(change: (text: string) => string): string {
  const answer = JSON.parse(ATTESTED) as Answer
  answer.response.attestationObject = change(answer.response.attestationObject)
  return JSON.stringify(answer)
}

/**
 * A length that is 0x1000 to who takes `/` for nothing, and 0x1fc0 to who takes it for 63: behind the
 * one stands the attested object, behind the other one without a statement.
 */
function asTwoObjects(text: string): string {
  const attested = Buffer.from(text, 'base64url')
  const authData = decodeAttestationObject(attested).get('authData')
  const plain = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<never, never>>([
      ['fmt', 'none'],
      ['attStmt', new Map<never, never>()],
      ['authData', authData],
    ]),
  )
  const entries = attested.subarray(1)
  const both = [Buffer.alloc(4096), entries, Buffer.alloc(4032 - entries.length), plain.subarray(1)]
  const read = Buffer.concat([Buffer.from([0xa4, 0x61, 0x7a, 0x59, 0x10, 0]), ...both])
  const whole = read.toString('base64url')
  return `${whole.slice(0, 6)}/${whole.slice(7)}`
}

async function registered(t: Test, answer: string) {
  const asked: unknown[] = []
  const { fetch } = globalThis
  t.teardown(() => void (globalThis.fetch = fetch))
  globalThis.fetch = (input) => {
    asked.push(input)
    return Promise.reject(new Error('nobody is there'))
  }
  const result = await registeredPasskey(SITE, CHALLENGE, answer)
  t.strictSame(asked, [], 'nothing is fetched from where the client says')
  return result
}

t.test('a passkey is taken for itself, whatever certificates come with it', async (t) => {
  const result = await registered(t, ATTESTED)
  t.equal(result?.passkey.id, 'yUloG7AzGgxnWZUjvPzEBDph1cujv_2ZiF3IIu23kOk')
})

t.test('an object that two decoders read as two is refused', async (t) => {
  t.equal(await registered(t, withObject(asTwoObjects)), undefined)
})

for (const odd of ['/', '+', '=', '!', ' ', '\n'])
  t.test(`what is no base64url is refused: ${JSON.stringify(odd)}`, async (t) => {
    t.equal(
      await registered(
        t,
        withObject((text) => text + odd),
      ),
      undefined,
    )
  })
