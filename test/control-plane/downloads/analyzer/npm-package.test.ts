/** The tool as an npm package: installed from its file by npm itself, offline, on every Node here. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { VERSION } from '../../../../shared/version.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { nodesHere } from '../../../support/installed-sdk.ts'
import { startPublicServer } from '../../../support/public-server.ts'

const run = promisify(execFile)

void t.test('npm installs it from a file without a network, and it runs', async (t) => {
  const { baseUrl } = await startPublicServer(t)
  const answer = await fetch(`${baseUrl}/api/v1/cli/node`)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/gzip')
  const etag = answer.headers.get('etag') ?? ''
  const again = await fetch(`${baseUrl}/api/v1/cli/node`, { headers: { 'if-none-match': etag } })
  t.equal(again.status, 304)

  const folder = temporaryFolder(t)
  const file = join(folder, 'service-analyzer.tgz')
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  for (const [major, node] of nodesHere())
    await t.test(`Node ${major}`, async (t) => {
      const project = mkdtempSync(join(folder, 'project-'))
      writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
      const env = {
        PATH: [dirname(node), process.env['PATH']].join(delimiter),
        HOME: folder,
        npm_config_cache: join(folder, `cache-${major}`),
      }
      const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']
      await run('npm', ['install', ...quiet, file], { cwd: project, env })
      const program = join(project, 'node_modules/.bin/service-analyzer')
      t.equal(statSync(program).mode & 0o111, 0o111)
      const { stdout } = await run(program, ['--version'], { env })
      t.equal(stdout, `${VERSION}\n`)

      const installed = dirname(realpathSync(program))
      const readme = readFileSync(join(installed, 'README.md'), 'utf8')
      t.match(readme, `${baseUrl}/api/v1/cli/install`)
      t.notMatch(readme, '{base_url}')
      t.match(readFileSync(join(installed, 'LICENSE'), 'utf8'), 'This software contains')
      const manifest = readFileSync(join(installed, 'package.json'), 'utf8')
      t.notMatch(manifest, /scripts|dependencies/, 'nothing runs at its installation')
    })
})
