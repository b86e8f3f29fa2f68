/** Whether the application has the public keys that the service publishes: these and no others. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { PEM_FILENAME } from '../../../../shared/integration/contract.ts'
import { type CheckResult, resultsOf } from '../../../../shared/integration/check-result.ts'
import { readText } from '../project/read-text.ts'
import { askService, boundedJson } from './asked-locally.ts'
import { isNode } from '../edits/notes.ts'
import type { LocalCheck, LookedAt } from './looked-at.ts'

const { fail, pass, skip, warn } = resultsOf('key_installed')
const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g
const KEY_FILE_BYTES_MAX = 64 * 1024

export const keyInstalled: LocalCheck = async (at) => {
  const { world } = at
  if (world.tenant.mode === 'sdk')
    return skip('In sdk mode the middleware gets its keys from the service.')
  const file = keyFileOf(at)
  const text = await textAt(file.absolute)
  if (text === null) return missing(at, file.shown)
  if (/PRIVATE KEY-----/.test(text))
    return fail(
      `${file.shown} contains a private key, which only the service may have.`,
      `Delete it, ask the operator to rotate the keys, then: ${download(at, file.shown)}`,
    )
  const installed = readKeys(text)
  if (installed === null || installed.length === 0)
    return fail(
      `${file.shown} contains no readable public key.`,
      `Fetch it again: ${download(at, file.shown)}`,
    )
  const published = await publishedKeys(at)
  if (typeof published === 'string')
    return warn(
      `${file.shown} contains ${counted(installed.length)}, but could not be compared: ${published}.`,
      `Try it yourself: curl -i ${world.baseUrl}/tenants/${world.tenant.tenant_id}/public-key`,
    )
  return compare(at, file.shown, installed, published)
}

/** As the middleware and the snippets look for it: where the application is started. */
function keyFileOf({ project, application, world }: LookedAt) {
  const given = world.environment['SERVICE_PUBLIC_KEY_FILE'] || PEM_FILENAME
  if (isAbsolute(given)) return { absolute: given, shown: given }
  const { folder } = application
  return {
    absolute: join(project.root, folder, given),
    shown: folder === '' ? given : `${folder}/${given}`,
  }
}

async function textAt(file: string): Promise<string | null> {
  try {
    return (await readText(dirname(file), basename(file), KEY_FILE_BYTES_MAX)).text
  } catch {
    return null
  }
}

function readKeys(text: string): KeyObject[] | null {
  try {
    return (text.match(PEM) ?? []).map((pem) => createPublicKey(pem))
  } catch {
    return null
  }
}

function missing(at: LookedAt, shown: string): CheckResult {
  const fix = download(at, shown)
  const when = isNode(at.application) ? 'when it starts' : 'with its first request'
  return warn(
    `${shown} does not exist: the application fetches the keys ${when}, and if it cannot reach the service then, nobody gets in.`,
    fix,
  )
}

interface PublishedKey {
  readonly status: string
  readonly key: KeyObject
}

/** A string: why there are none. */
async function publishedKeys(at: LookedAt): Promise<readonly PublishedKey[] | string> {
  const answer = await askService(at, `/tenants/${at.world.tenant.tenant_id}/public-key`)
  if (answer === null) return 'the service cannot be reached'
  if (answer.status === 404) return 'the tenant has no keys before it is published'
  if (!answer.ok) return `the service returned ${answer.status}`
  const { keys } = (await boundedJson(answer, at.world.baseUrl)) ?? {}
  const found = (Array.isArray(keys) ? (keys as Record<string, unknown>[]) : []).flatMap(
    ({ status, pem }) => {
      const [key] = typeof pem === 'string' ? (readKeys(pem) ?? []) : []
      return key === undefined ? [] : [{ status: String(status), key }]
    },
  )
  return found.length > 0 ? found : 'the service returned no key'
}

function compare(
  at: LookedAt,
  shown: string,
  installed: readonly KeyObject[],
  published: readonly PublishedKey[],
): CheckResult {
  const has = (key: KeyObject) => installed.some((one) => one.equals(key))
  const absent = published.filter(({ key }) => !has(key)).map(({ status }) => status)
  const old = installed.filter((one) => !published.some(({ key }) => key.equals(one)))
  const fix = download(at, shown)
  if (absent.includes('current'))
    return fail(
      old.length === installed.length
        ? `${shown} contains ${counted(old.length)} that the service does not publish, from another tenant or outdated.`
        : `${shown} lacks the key that the service signs with now.`,
      fix,
    )
  if (old.length > 0)
    return warn(
      `${shown} contains ${counted(old.length)} that the service no longer publishes: whoever has its private key could sign people in.`,
      fix,
    )
  if (absent.length > 0)
    return warn(
      `${shown} lacks the key that is ${absent.join(' and ')}${isNode(at.application) ? '; the middleware fetches it when it first appears' : ''}.`,
      fix,
    )
  return pass(`${shown} matches the published keys (${counted(installed.length)}).`)
}

function download({ world }: LookedAt, shown: string): string {
  return `curl -fsS -H 'Accept: application/x-pem-file' ${world.baseUrl}/tenants/${world.tenant.tenant_id}/public-key -o ${shown}`
}

const counted = (count: number) => (count === 1 ? 'one key' : `${count} keys`)
