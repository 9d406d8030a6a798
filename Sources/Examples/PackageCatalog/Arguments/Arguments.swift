internal import Foundation

/// The parsed command line.
struct Arguments {
    enum Command: Equatable {
        case help
        case update
        case list(ListFilter)
        case delete(names: [String])
        case deleteMaintainers(keys: [String])
        case depends(name: String)
        case rdepends(name: String)
        case why(name: String)
        case watch(WatchSubject)
    }

    var command = Command.update
    var input = Input.dpkgStatus
    var place = CatalogPlace.memory
    var databaseKey = "1"

    static let help = """
        Usage: package-catalog [--input FILE] [OPTIONS]
               package-catalog list [--section S] [--search STRING] [--limit N] [OPTIONS]
               package-catalog depends NAME [OPTIONS]
               package-catalog rdepends NAME [OPTIONS]
               package-catalog why NAME [OPTIONS]
               package-catalog delete NAME... [OPTIONS]
               package-catalog delete --maintainer KEY... [OPTIONS]
               package-catalog watch [--input FILE] [--section S | --rdepends NAME] [OPTIONS]

        Without a command, makes the stored catalog equal to a Debian control file, and says what changed.

          --input FILE        the control file; - is standard input (default: /var/lib/dpkg/status)

          list                prints what is stored: name, version, architecture, section, summary
          --section S         only packages of this section
          --search STRING     only packages with this string in their name or summary
          --limit N           at most N packages

          depends NAME        prints what the packages with this name need, and which stored packages meet it
          rdepends NAME       prints which packages need those with this name, or what they provide
          why NAME            prints a shortest chain of packages that leads to this one, from one that no other needs

          delete NAME...      deletes the packages with these names
          --maintainer        deletes maintainers instead, by address; none may have a package

          watch               updates the catalog, then shows it by sections, follows every change of the input file, and
                              obeys lines of standard input: delete NAME, add FILE, and quit. Changes are marked:
                              + new, - deleted, > moved, * changed. Without a terminal each change is a line
          --section S         only packages of this section
          --rdepends NAME     what depends on this package, and on what it provides, instead of packages

          --store FILE        the catalog (default: package-catalog/packages.sqlite in the user's data directory)
          --store postgresql://USER@HOST/DATABASE
                              the catalog on a server, which any number of processes and machines share (in builds with
                              the trait PostgreSQL)
          --shared            lets other processes with this option have the file open too: a watch in one terminal follows what
                              is updated and deleted in another
          --database-key KEY  a label for the contents; if it differs from last time, the store is emptied and filled again
          --memory            keeps the catalog in memory; every command reads the input first

        Exit status: 0 success, 1 something could not be done, 2 the arguments are invalid.

        """
}

extension Arguments.Command {
    /// Whether the control file is read for it.
    var readsInput: Bool {
        switch self {
        case .update, .watch: true
        case .help, .list, .delete, .deleteMaintainers, .depends, .rdepends, .why: false
        }
    }
}
