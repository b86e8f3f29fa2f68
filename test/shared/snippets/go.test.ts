// long: builds and starts servers in Go
import { existsSync } from 'node:fs'
import { GO } from '../../../shared/integration/snippets/go.ts'
import { keepsItsPromises } from './promises.ts'

const COMPILER = '/usr/bin/go'

keepsItsPromises(GO['go'], {
  missing: existsSync(COMPILER) ? false : 'Go is not installed here',
  files: { 'go.mod': 'module application\n\ngo 1.19\n' },
  build: [COMPILER, 'build', '-o', 'application', 'main.go'],
  start: ['./application'],
})
