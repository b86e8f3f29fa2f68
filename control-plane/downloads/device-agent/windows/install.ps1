# Installs the device agent of the sign-in protection service on Windows, for Windows PowerShell 5.1 as an
# administrator. With -Uninstall it removes all of it. It asks for the ticket where it holds none.
#
# Nothing runs before the downloads have proven to be the ones that this script was made for.
param([switch]$Uninstall)

# Takes the agent back; stands on its own, because it is kept as a script beside the agent.
function Uninstall-ServiceDeviceAgent {
  $ErrorActionPreference = 'Stop'
  $program = Join-Path $env:ProgramFiles 'service-device-agent'
  $data = Join-Path $env:ProgramData 'service-device-agent'
  $me = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
  if (-not $me.IsInRole([Security.Principal.SecurityIdentifier]'S-1-5-32-544')) {
    throw 'Run this in a PowerShell that was opened with "Run as administrator". Nothing has been removed.'
  }
  foreach ($name in 'listener', 'collector') {
    $task = Get-ScheduledTask -TaskPath '\service-device-agent\' -TaskName $name -ErrorAction SilentlyContinue
    if ($null -ne $task) {
      $task | Stop-ScheduledTask
      $task | Unregister-ScheduledTask -Confirm:$false
    }
  }
  # an empty folder of the task scheduler is removed by nothing else
  try {
    $scheduler = New-Object -ComObject Schedule.Service
    $scheduler.Connect()
    $scheduler.GetFolder('\').DeleteFolder('service-device-agent', 0)
  } catch { Write-Verbose 'There is no such folder.' }
  $node = Join-Path $program 'node.exe'
  $other = Join-Path $env:ProgramFiles 'nodejs\node.exe'
  if (-not (Test-Path -LiteralPath $node)) { $node = $other }
  $agent = Join-Path $program 'agent.mjs'
  if ((Test-Path -LiteralPath $node) -and (Test-Path -LiteralPath $agent)) {
    # without a network the service keeps the device until an administrator removes it
    try { & $node $agent leave } catch { Write-Verbose 'The service was not told.' }
    if ($LASTEXITCODE -ne 0) {
      Write-Warning 'The service could not be told. Remove this device on the Devices page.'
    }
  }
  foreach ($folder in $data, $program) {
    # a process that was stopped just now may hold its files a little longer
    for ($try = 0; ($try -lt 20) -and (Test-Path -LiteralPath $folder); $try++) {
      try { Remove-Item -LiteralPath $folder -Recurse -Force } catch { Start-Sleep -Milliseconds 500 }
    }
    if (Test-Path -LiteralPath $folder) { throw ('This folder could not be removed: ' + $folder) }
  }
  Write-Output 'The device agent is no longer installed.'
}

# All of it in a function: of a script that arrives only in part, nothing runs.
function Install-ServiceDeviceAgent {
  $ErrorActionPreference = 'Stop'
  # with it a download takes ten times as long
  $ProgressPreference = 'SilentlyContinue'
  $baseUrl = @BASE_URL@
  $ticket = @TICKET@
  $agentSha256 = @AGENT_SHA256@
  $nodeSha256 = @{ x64 = @NODE_X64_SHA256@; arm64 = @NODE_ARM64_SHA256@ }
  $program = Join-Path $env:ProgramFiles 'service-device-agent'
  $data = Join-Path $env:ProgramData 'service-device-agent'
  $agent = Join-Path $program 'agent.mjs'

  $me = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
  if (-not $me.IsInRole([Security.Principal.SecurityIdentifier]'S-1-5-32-544')) {
    throw 'Run this in a PowerShell that was opened with "Run as administrator". Nothing has been installed.'
  }
  if (-not [Environment]::Is64BitProcess) { throw 'Run this in the 64-bit Windows PowerShell.' }
  $processor = (Get-CimInstance -ClassName Win32_Processor | Select-Object -First 1).Architecture
  $arch = @{ 9 = 'x64'; 12 = 'arm64' }[[int]$processor]
  if ($null -eq $arch) { throw 'The agent runs on x64 and arm64 only. Nothing has been installed.' }
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor
    [Net.SecurityProtocolType]::Tls12

  # Anybody may make a folder in ProgramData: one that somebody else has made first stays theirs.
  foreach ($folder in $program, $data) {
    if (Test-Path -LiteralPath $folder) {
      $owner = (Get-Acl -LiteralPath $folder).GetOwner([Security.Principal.SecurityIdentifier]).Value
      if ('S-1-5-18', 'S-1-5-32-544' -notcontains $owner) {
        throw ('This folder belongs to somebody else. Remove it and run this again: ' + $folder)
      }
    }
  }
  foreach ($name in 'listener', 'collector') {
    Get-ScheduledTask -TaskPath '\service-device-agent\' -TaskName $name -ErrorAction SilentlyContinue |
      Stop-ScheduledTask
  }
  $state = Join-Path $data 'state'
  New-Item -ItemType Directory -Force -Path $program, $data, $state | Out-Null
  # by number, because names of groups are translated: system, administrators, local service, users
  $system = '*S-1-5-18:(OI)(CI)F'
  $administrators = '*S-1-5-32-544:(OI)(CI)F'
  foreach ($folder in $program, $data) { icacls.exe $folder /setowner '*S-1-5-32-544' /Q | Out-Null }
  icacls.exe $program /inheritance:r /grant:r $system $administrators '*S-1-5-32-545:(OI)(CI)RX' /Q | Out-Null
  if ($LASTEXITCODE -eq 0) {
    icacls.exe $data /inheritance:r /grant:r $system $administrators '*S-1-5-19:(OI)(CI)R' /Q | Out-Null
  }
  if ($LASTEXITCODE -eq 0) {
    icacls.exe $state /inheritance:r /grant:r $system $administrators '*S-1-5-19:(OI)(CI)M' /Q | Out-Null
  }
  if ($LASTEXITCODE -ne 0) { throw 'The rights of the folders of the agent could not be set.' }

  function Get-Checked([string]$path, [string]$file, [string]$sha256) {
    $draft = $file + '.new'
    Invoke-WebRequest -UseBasicParsing -Uri ($baseUrl + $path) -OutFile $draft
    $actual = (Get-FileHash -LiteralPath $draft -Algorithm SHA256).Hash
    if ($actual -ne $sha256) {
      Remove-Item -LiteralPath $draft -Force
      throw ('What came from ' + $baseUrl + $path + ' is not what this script was made for.')
    }
    Move-Item -LiteralPath $draft -Destination $file -Force
  }
  Get-Checked '/install/agent/agent.mjs' $agent $agentSha256
  # one that only administrators can replace
  $node = Join-Path $env:ProgramFiles 'nodejs\node.exe'
  $found = ''
  if (Test-Path -LiteralPath $node) { $found = [string](& $node -p 'process.versions.node') }
  if (($found -eq '') -or ([int]$found.Split('.')[0] -lt 20)) {
    $node = Join-Path $program 'node.exe'
    if ($nodeSha256[$arch] -eq '') {
      throw 'Node.js 20 or later is needed: install it from nodejs.org for all users, and run this again.'
    }
    Get-Checked ('/install/node/win-' + $arch) $node $nodeSha256[$arch]
  }
  $body = ${function:Uninstall-ServiceDeviceAgent}.ToString()
  Set-Content -LiteralPath (Join-Path $program 'uninstall.ps1') -Value $body -Encoding ASCII

  # by standard input: what is written behind a program is shown to everybody on this machine
  if ($ticket -eq '') {
    & $node $agent enroll
  } else {
    $ticket | & $node $agent enroll
  }
  if ($LASTEXITCODE -ne 0) { throw 'The device was not enrolled. Run this again with a new ticket.' }

  $every = New-ScheduledTaskTrigger -Once -At (Get-Date) -RepetitionInterval (New-TimeSpan -Minutes 5)
  $start = New-ScheduledTaskTrigger -AtStartup
  $jobs = @(
    @{ name = 'collector'; command = 'collect'; user = 'S-1-5-18'; limit = New-TimeSpan -Minutes 4 },
    @{ name = 'listener'; command = 'run'; user = 'S-1-5-19'; limit = [TimeSpan]::Zero }
  )
  foreach ($job in $jobs) {
    $action = New-ScheduledTaskAction -Execute ('"' + $node + '"') -WorkingDirectory $program `
      -Argument ('"' + $agent + '" ' + $job.command)
    $who = New-ScheduledTaskPrincipal -UserId $job.user -LogonType ServiceAccount
    $settings = New-ScheduledTaskSettingsSet -MultipleInstances IgnoreNew -StartWhenAvailable `
      -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -ExecutionTimeLimit $job.limit
    Register-ScheduledTask -TaskPath '\service-device-agent\' -TaskName $job.name -Action $action `
      -Trigger $start, $every -Principal $who -Settings $settings -Force | Out-Null
    Start-ScheduledTask -TaskPath '\service-device-agent\' -TaskName $job.name
  }
  Write-Output 'The device agent is installed and runs. To remove it, as an administrator:'
  Write-Output ('  powershell -ExecutionPolicy Bypass -File "' + (Join-Path $program 'uninstall.ps1') + '"')
}

if ($Uninstall) { Uninstall-ServiceDeviceAgent } else { Install-ServiceDeviceAgent }
