import Foundation
import TestSupport

/// The program as a user runs it, in a folder of its own.
final class Program {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    var folder: URL { directory.url }

    func run(_ words: String...) async throws -> Subprocess {
        try await run(words)
    }

    func run(_ words: [String]) async throws -> Subprocess {
        try await Subprocess(
            PackageFiles.products.appending(component: "model-reset").path, words, in: folder)
    }

    /// Starts the program, which goes on until it is terminated; its output is read line by line.
    func converse(_ words: String...) throws -> Conversation {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = PackageFiles.products.appending(component: "model-reset")
        process.arguments = words
        process.currentDirectoryURL = folder
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
        return Conversation(
            process, input: input.fileHandleForWriting, output: output.fileHandleForReading, separator: "\n")
    }

    /// What the program says as JSON.
    func json(_ words: String...) async throws -> [String: Any] {
        let text = try await run(words + ["--json"]).output
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    /// Writes a bundle with one version, and returns its path from the folder.
    @discardableResult
    func write(_ entities: String) throws -> String {
        try write("Shop", entities)
    }

    @discardableResult
    func write(_ name: String, _ entities: String) throws -> String {
        try write(name, versions: [name: entities], current: nil)
    }

    @discardableResult
    func write(_ name: String, versions: [String: String], current: String?) throws -> String {
        let bundle = folder.appending(path: "\(name).xcdatamodeld")
        for (version, entities) in versions {
            let directory = bundle.appending(component: "\(URL(filePath: version).lastPathComponent).xcdatamodel")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let type = "com.apple.IDECoreDataModeler.DataModel"
            try Data("<model type=\"\(type)\">\(entities)</model>".utf8)
                .write(to: directory.appending(component: "contents"))
        }
        if let current {
            let list = ["_XCCurrentVersionName": "\(current).xcdatamodel"]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: bundle.appending(component: ".xccurrentversion"))
        }
        return "\(name).xcdatamodeld"
    }

    func file(_ name: String) -> URL { folder.appending(path: name) }

    /// The bytes of every file of the folder by its name, to see that nothing touched them.
    func files(_ prefix: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) }
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: file($0))) })
    }
}

/// Models of a shop, each another step of its history.
enum Shop {
    static let first = """
        <entity name="Item"><attribute name="name" optional="YES" attributeType="String"/></entity>
        """
    static let second = """
        <entity name="Item"><attribute name="name" attributeType="String"/>
        <attribute name="price" attributeType="Decimal" optional="YES"/></entity>
        """
    static let third = """
        <entity name="Item"><attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="price" attributeType="Decimal"/></entity>
        """
    /// ``second`` with another type.
    static let cheap = """
        <entity name="Item"><attribute name="name" attributeType="String"/>
        <attribute name="price" attributeType="Double" optional="YES"/></entity>
        """
    /// ``first`` with another attribute in the place of its own.
    static let renamed = """
        <entity name="Item"><attribute name="title" optional="YES" attributeType="String"/></entity>
        """

    static let linked = """
        <entity name="Item"><relationship name="shelf" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Shelf" inverseName="items" inverseEntity="Shelf"/></entity>
        <entity name="Shelf"><relationship name="items" optional="YES" toMany="YES" deletionRule="No Action" \
        destinationEntity="Item" inverseName="shelf" inverseEntity="Item"/></entity>
        """

    /// The same entities, with generated classes.
    static func withClasses(_ entities: String) -> String {
        entities.replacing("<entity ", with: "<entity codeGenerationType=\"class\" ")
    }

    static func counted(_ type: String) -> String {
        "<entity name=\"Item\"><attribute name=\"count\" optional=\"YES\" attributeType=\"\(type)\"/></entity>"
    }

    /// The same tables as ``first``.
    static let firstAgain = """
        <entity name="Item" representedClassName="ShopItem"><userInfo><entry key="a" value="b"/></userInfo>
        <attribute name="name" optional="YES" attributeType="String" defaultValueString="new"/></entity>
        """
}
