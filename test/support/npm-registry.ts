/** A registry for npm that has what is installed here, and nothing else: no test waits for the internet. */
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { create } from 'tar'

const ROOT = new URL('../../', import.meta.url).pathname

interface Manifest {
  readonly name: string
  readonly version: string
}

export async function startNpmRegistry(t: { after(work: () => Promise<void>): void }) {
  /** A package may lie here in several versions. */
  function foldersOf(name: string): Map<string, string> {
    const found = globSync(`node_modules/{${name},*/node_modules/${name}}/package.json`, {
      cwd: ROOT,
    })
    return new Map(
      found.map((file) => {
        const path = join(ROOT, file)
        const { version } = JSON.parse(readFileSync(path, 'utf8')) as Manifest
        return [version, dirname(path)]
      }),
    )
  }

  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice(1))
    const [name = '', version] = path.split('/-/')
    const folders = foldersOf(name)
    const folder = folders.get(version ?? '')
    if (folder !== undefined)
      return void create(
        {
          gzip: true,
          cwd: folder,
          prefix: 'package',
          portable: true,
          filter: (file) => !file.startsWith('./node_modules'),
        },
        ['.'],
      ).pipe(response.writeHead(200, { 'Content-Type': 'application/gzip' }))
    const versions = Object.fromEntries(
      [...folders].map(([version, folder]) => {
        const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object
        const tarball = `${origin()}/${name}/-/${version}`
        return [version, { ...manifest, dist: { tarball } }]
      }),
    )
    const latest = [...folders.keys()].at(0)
    if (latest === undefined) return void response.writeHead(404).end('{}')
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: origin() }
}
