// What the plugin asks of SwiftPM's module to find a target's models. A test compiles it under that name.
public import Foundation

public protocol Target {
    var name: String { get }
    var directoryURL: URL { get }
}

public struct Package {
    public var directoryURL: URL

    public init(directoryURL: URL) {
        self.directoryURL = directoryURL
    }
}
