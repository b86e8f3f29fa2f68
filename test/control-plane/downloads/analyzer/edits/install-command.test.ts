/** Where the package manager is run: where the package.json lies that names the middleware. */
import t from 'tap'
import { installCommand } from '../../../../../control-plane/downloads/analyzer/edits/install-command.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { applicationOf, folderWith } from '../local-checks/project-here.ts'

const ROWS = [
  ['', ['package.json'], 'npm install'],
  ['server', ['server/package.json'], 'npm install --prefix server'],
  // the application is made below the package that it is of
  ['server/src', ['server/package.json'], 'npm install --prefix server'],
  ['src', ['package.json'], 'npm install'],
  // a workspace of the package in the root
  ['apps/api/src', ['package.json', 'apps/api/package.json'], 'npm install'],
  [
    'apps/api/src',
    ['package.json', 'apps/api/package.json', 'apps/api/package-lock.json'],
    'npm install --prefix apps/api',
  ],
] as const

t.test('the install command runs where the package is', async (t) => {
  for (const [folder, files, command] of ROWS) {
    const root = folderWith(t, Object.fromEntries(files.map((file) => [file, '{}'])))
    const project = await openProject(root)
    t.equal(
      installCommand(project, applicationOf({ folder })),
      command,
      `${folder} ${files.join()}`,
    )
  }
})
