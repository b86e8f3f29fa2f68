/** The installer for Windows: a grammar of PowerShell reads it, and no value gets out of its quotes. */
import t from 'tap'
import {
  windowsInstaller,
  type WindowsInstallerWish,
} from '../../../../../control-plane/downloads/device-agent/windows/installer.ts'
import { createPowerShellParser, texts } from '../../../../support/powershell.ts'

const parse = await createPowerShellParser()

const WISH: WindowsInstallerWish = {
  baseUrl: 'https://id.example.test/',
  agentSha256: 'a'.repeat(64),
  nodeSha256: { x64: 'b'.repeat(64) },
  ticket: 'device_ticket',
}

t.test('a grammar of PowerShell reads all of it', async (t) => {
  const tree = parse(await windowsInstaller(WISH))
  t.notOk(tree.hasError)
  t.ok(parse('if ($x { }').hasError, 'it would have found a mistake')
  t.strictSame(texts(tree, 'function_name'), [
    'Uninstall-ServiceDeviceAgent',
    'Install-ServiceDeviceAgent',
    'Get-Checked',
  ])
})

t.test('it is ASCII, and every place is filled', async (t) => {
  const script = await windowsInstaller(WISH)
  t.match(script, /^[\x20-\x7e\n]+$/)
  t.notMatch(script, /@[A-Z0-9_]+@/)
  t.match(script, `$baseUrl = 'https://id.example.test'\n`)
  t.match(script, `x64 = '${'b'.repeat(64)}'; arm64 = ''`)
})

t.test('no value gets out of its quotes', async (t) => {
  const plain = texts(parse(await windowsInstaller(WISH)), 'verbatim_string_characters')
  const hostile = [
    `https://x/'; Start-Process calc; '`,
    'https://x/$(calc)`n$env:TEMP',
    `https://x/" + (calc) + "`,
    'https://x/’; calc; ‘',
    'https://x/‚‛; calc',
    "''''",
    '@TICKET@',
    '#>',
  ]
  for (const value of hostile) {
    const script = await windowsInstaller({ ...WISH, baseUrl: value, ticket: value })
    // the grammar knows the straight quote alone; PowerShell takes those of typesetters for one, too
    const tree = parse(script.replaceAll(/[\u2018-\u201B]/g, "'"))
    t.notOk(tree.hasError, value)
    t.equal(
      texts(tree, 'verbatim_string_characters').length,
      plain.length,
      'as many literals as before',
    )
    t.notOk(texts(tree, 'command_name').includes('calc'), value)
    t.notOk(texts(tree, 'command_name').includes('Start-Process'), value)
  }
  for (const value of ['https://x/\n calc', 'https://x/\u0000', 'https://ü.example/'])
    await t.rejects(windowsInstaller({ ...WISH, baseUrl: value }), /cannot stand/)
})

t.test('the ticket is on no command line and in no file', async (t) => {
  const tree = parse(await windowsInstaller(WISH))
  const mentions = texts(tree, 'variable').filter((name) => name === '$ticket')
  t.equal(mentions.length, 3, 'set, compared, and given by standard input')
  const commands = texts(tree, 'command').filter((text) => text.includes('$ticket'))
  t.strictSame(commands, [], 'never an argument')
  t.match(texts(tree, 'pipeline').join('\n'), '$ticket | & $node $agent enroll')
  const without = await windowsInstaller({ ...WISH, ticket: undefined })
  t.match(without, "$ticket = ''")
  t.notMatch(without, 'device_ticket')
})

t.test('what it runs was checked first, and is where only administrators write', async (t) => {
  const script = await windowsInstaller(WISH)
  const install = script.slice(script.indexOf('function Install-'))
  const order = [
    'GetOwner(',
    'icacls.exe $program',
    'Get-FileHash',
    "Get-Checked '/install/agent",
    'agent enroll',
    'Register-ScheduledTask',
  ]
  const places = order.map((text) => install.indexOf(text))
  t.notOk(places.includes(-1))
  t.strictSame(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.notMatch(script, /Invoke-Expression|\biex\b|DownloadString|-EncodedCommand|\$env:TEMP/i)
  // groups have other names in other languages
  t.notMatch(script, /BUILTIN|NT AUTHORITY|Administrators:|Users:/)
})

t.test('what is installed is taken back: folders, both tasks, and their folder', async (t) => {
  const tree = parse(await windowsInstaller(WISH))
  const [uninstall = '', install = ''] = texts(tree, 'function_statement')
  const literals = (code: string) => texts(parse(code), 'verbatim_string_characters')
  for (const name of [
    "'service-device-agent'",
    "'listener'",
    "'collector'",
    "'\\service-device-agent\\'",
  ]) {
    t.ok(literals(install).includes(name), `installs ${name}`)
    t.ok(literals(uninstall).includes(name), `removes ${name}`)
  }
  t.match(uninstall, 'DeleteFolder')
  t.match(uninstall, '$agent leave')
  const body = uninstall.slice(uninstall.indexOf('{') + 1, uninstall.lastIndexOf('}'))
  t.notOk(parse(body).hasError, 'and is a script of its own, as it is kept beside the agent')
  t.notMatch(body, /\$(?:baseUrl|ticket|nodeSha256)/)
})
