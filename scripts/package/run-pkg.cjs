// Runs on the Node that is packed. In single-script SEA mode pkg's command line has no assets, but its function has.
const { readFileSync } = require('node:fs');

const { sea, main, options } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
require(sea)
  .default(main, options)
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
