// Runs on the Node that is packed. pkg's command line knows no assets in its single-script SEA mode, its function does.
const { readFileSync } = require('node:fs');

const { sea, main, options } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
require(sea)
  .default(main, options)
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
