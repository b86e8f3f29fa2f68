// long: builds and starts servers in PHP
import { execFileSync } from 'node:child_process'
import { PHP } from '../../../shared/integration/snippets/php.ts'
import { keepsItsPromises } from './promises.ts'

const INTERPRETER = '/usr/bin/php'

function missing(): string | false {
  const wanted = `require 'Illuminate/autoload.php'; require 'GuzzleHttp/autoload.php';`
  try {
    execFileSync(INTERPRETER, ['-r', wanted], { stdio: 'ignore' })
    return false
  } catch {
    return 'PHP, Laravel or Guzzle is not installed here'
  }
}

/** Laravel itself, as `composer create-project` lays it out, without what no page here wants. */
const INDEX = `<?php
require 'Illuminate/autoload.php';
require 'GuzzleHttp/autoload.php';
require __DIR__ . '/../app/Http/Middleware/ServiceClaims.php';

use Illuminate\\Contracts\\Debug\\ExceptionHandler;
use Illuminate\\Contracts\\Http\\Kernel as HttpKernel;
use Illuminate\\Foundation\\Application;
use Illuminate\\Foundation\\Exceptions\\Handler;
use Illuminate\\Foundation\\Http\\Kernel;
use Illuminate\\Http\\Request;
use Illuminate\\Support\\Facades\\Route;

class ProjectKernel extends Kernel
{
    protected $middleware = [App\\Http\\Middleware\\ServiceClaims::class];
}

$app = new Application(dirname(__DIR__));
$app->singleton(HttpKernel::class, ProjectKernel::class);
$app->singleton(ExceptionHandler::class, Handler::class);
$app->booted(fn () => Route::get('/', fn (Request $request) =>
    response("Hello {$request->user()->name}\\n", 200, ['Content-Type' => 'text/plain'])));
$kernel = $app->make(HttpKernel::class);
$response = $kernel->handle($request = Request::capture())->send();
$kernel->terminate($request, $response);
`

const CONFIG = {
  app: `<?php return [
    'env' => 'production', 'debug' => false, 'timezone' => 'UTC', 'locale' => 'en', 'aliases' => [],
    'providers' => [
        Illuminate\\Cache\\CacheServiceProvider::class,
        Illuminate\\Filesystem\\FilesystemServiceProvider::class,
        Illuminate\\Foundation\\Providers\\FoundationServiceProvider::class,
        Illuminate\\View\\ViewServiceProvider::class,
    ],
];`,
  cache: `<?php return [
    'default' => 'file', 'prefix' => 'test',
    'stores' => ['file' => ['driver' => 'file', 'path' => storage_path('cache/' . getenv('PORT'))]],
];`,
  view: `<?php return ['paths' => [], 'compiled' => storage_path('cache')];`,
  logging: `<?php return [
    'default' => 'stderr',
    'channels' => ['stderr' => [
        'driver' => 'monolog', 'handler' => Monolog\\Handler\\StreamHandler::class,
        'with' => ['stream' => 'php://stderr'],
    ]],
];`,
}

keepsItsPromises(PHP['laravel'], {
  missing: missing(),
  files: {
    'public/index.php': INDEX,
    'bootstrap/cache/.keep': '',
    'storage/cache/.keep': '',
    ...Object.fromEntries(Object.entries(CONFIG).map(([name, php]) => [`config/${name}.php`, php])),
  },
  start: (port) => [INTERPRETER, '-S', `127.0.0.1:${port}`, '-t', 'public', 'public/index.php'],
})
