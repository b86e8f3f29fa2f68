/** `npm run device-runtimes`: Node for devices that have none, from the npm registry into the data folder. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ConfigError } from '../../shared/config/config.ts'
import { loadToolSettings } from '../config.ts'
import { fetchRuntimes, runtimesFolder } from '../downloads/device-agent/runtimes.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)

try {
  const { config } = loadToolSettings(process.argv.slice(2))
  await fetchRuntimes({ folder: runtimesFolder(config.data_dir), pack, say })
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof Error)) throw error
  process.stderr.write(`device-runtimes: ${error.message}\n`)
  process.exitCode = 1
}

/** By npm itself, so that its registry, its proxy and its certificates count. */
async function pack(spec: string, into: string): Promise<string> {
  await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', into, spec])
  const [file] = (await readdir(into)).filter((name) => name.endsWith('.tgz'))
  if (file === undefined) throw new Error(`npm did not fetch ${spec}`)
  return join(into, file)
}
