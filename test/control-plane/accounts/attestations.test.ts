/** What a browser says of a new passkey is believed for itself alone. */
import t from 'tap'
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

t.test('nothing is fetched from where a certificate of the client says', async (t) => {
  const asked: unknown[] = []
  const { fetch } = globalThis
  t.teardown(() => void (globalThis.fetch = fetch))
  globalThis.fetch = (input) => {
    asked.push(input)
    return Promise.reject(new Error('nobody is there'))
  }
  t.equal(await registeredPasskey(SITE, CHALLENGE, ATTESTED), undefined)
  t.strictSame(asked, [])
})
