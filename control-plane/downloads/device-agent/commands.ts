/** Every command. What is not named here does not exist. */
import type { Command } from './commands/command.ts'
import { code } from './commands/code.ts'
import { collect } from './commands/collect.ts'
import { enroll } from './commands/enroll.ts'
import { leave } from './commands/leave.ts'
import { run } from './commands/run.ts'
import { service } from './commands/service.ts'
import { status } from './commands/status.ts'

export const COMMANDS: readonly Command[] = [enroll, run, collect, code, status, service, leave]
