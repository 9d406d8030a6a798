import CoreDataSource
import FeedServer
import Foundation
import ReaderApp

/// A reader of feeds as a sample app. To run it: Scripts/run-example reader
@main
@MainActor
struct ReaderProgram {
    static let help = """
        Usage: reader [demo]
               reader open STORE URL
               reader serve [PORT]

        demo shows two readers on one store, with a server that fails now and then. It needs no network.

        open reads the feeds of the server at URL, and keeps them in the file STORE. Several readers may have one
        store open, each in a terminal of its own. The commands are:

        \(ReaderSession.help)

        serve prints its port, and serves sample feeds at http://127.0.0.1:PORT until its input ends. The commands are:

          fault PATH TIMES FAULT   adds a fault to the next TIMES answers for paths that begin with PATH. TIMES can be
                                   always. FAULT is status CODE, 429 SECONDS [date], hold SECONDS, clock SECONDS,
                                   reset, empty, short, cursor, overlap or garbage
          clear                    drops all faults
          release                  sends the answers that wait
          publish FEED TITLE       adds an article
          expire FEED COUNT        removes the oldest articles of a feed
          close FEED               makes a feed gone: its answers have the status 410

        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case (nil, _), ("demo", 1): try await Demonstration().play()
            case ("open", 3): try await open(store: arguments[1], server: arguments[2])
            case ("serve", 1): try FeedServer.run(port: 0)
            case ("serve", 2): try FeedServer.run(port: try port(arguments[1]))
            case ("--help", 1): print(help, terminator: "")
            default: throw Misuse()
            }
        } catch is Misuse {
            print(help, terminator: "")
            exit(2)
        } catch {
            FileHandle.standardError.write(Data("reader: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Wrong arguments.
    private struct Misuse: Error {}

    private static func port(_ text: String) throws -> UInt16 {
        guard let port = UInt16(text) else { throw Misuse() }
        return port
    }

    private static func open(store: String, server: String) async throws {
        guard let url = URL(string: server), url.scheme == "http" || url.scheme == "https" else { throw Misuse() }
        let reader = try await ReaderStore(URL(filePath: store), FeedService(url))
        try await ReaderSession(reader).run()
        try await reader.container.close()
    }
}
