import { EXIT } from '../../command-line/exit.ts'
import { plainText } from '../../command-line/words.ts'
import type { Command, Task } from './command.ts'
import { examineMachine } from './doctor/machine.ts'
import { examineProject } from './doctor/project.ts'
import { examineService } from './doctor/service.ts'
import type { Finding } from './doctor/finding.ts'
import { checkLines } from './show-checks.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'checks everything this program needs and explains how to fix problems',
  help: [
    'Writes nothing. It works without a key or a network, and reports if they are the problem.',
  ],
  options: [],
  takesFolder: true,
  documented: {
    findings: 'a list of {check, status, detail, fix}; status is ok, warn, fail or skip',
  },
  async run(task) {
    const findings = [
      ...(await examineMachine(task)),
      ...(await task.terminal.during('Contacting the service', () => examineService(task))),
      ...(await examineProject(task)),
    ]
    const shown = findings.map(({ fix, ...found }) => ({ ...found, next_action: fix }))
    const failing = findings.filter(({ status }) => status === 'fail')
    return {
      exit: failing.length === 0 ? EXIT.done : EXIT.notSo,
      text: checkLines(shown, task.terminal).join('\n'),
      fields: { findings },
      next: nextOf(task, failing[0]),
    }
  },
}

function nextOf(task: Task, first: Finding | undefined) {
  return first === undefined
    ? { text: 'Everything is ready. To analyze this project:', command: task.line('analyze') }
    : {
        text: `Fix ${plainText(first.check)} first, then check again:`,
        command: task.line('doctor'),
      }
}
