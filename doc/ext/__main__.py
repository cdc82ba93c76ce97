# SPDX-License-Identifier: Apache-2.0
"""Write the committed pages: ``make reference``."""

from doc.ext import pages

if __name__ == "__main__":
    pages.write()
