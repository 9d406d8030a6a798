import CoreDataSource
import Foundation
import FrameworkNames
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// What the article on models shows is a model.
struct ModelArticleTests {
    private let article: String

    init() throws {
        let catalog = PackageFiles.root.appending(path: "Sources/CoreDataSource/CoreDataSource.docc")
        article = try String(contentsOf: catalog.appending(component: "TheModel.md"), encoding: .utf8)
    }

    @Test func theModelOfTheArticleIsReadWithoutAWarning() throws {
        let blocks = article.components(separatedBy: "```xml\n").dropFirst()
        let xml = try #require(blocks.first?.components(separatedBy: "```").first)
        let document = try ModelReader.read(data: Data(xml.utf8), name: "Mail")
        #expect(document.diagnostics.isEmpty)
        let message = try #require(document.model.entity(named: "MessageEntity"))
        #expect(message.attributes.map(\.type) == [.date, .boolean, .integer64, .string, .string])
        let thread = try #require(document.model.entity(named: "ThreadEntity"))
        #expect(thread.relationships.map(\.deleteRule) == [.cascade])
    }

    @Test func theArticleListsWhatIsNotSupported() {
        let rows = UnsupportedDeclaration.allCases.map { "| \($0.modelFileDeclaration) | \($0.effect) |\n" }.joined()
        #expect(article.contains("| In the file | What happens |\n|---|---|\n" + rows + "\n"))
    }

    @Test func theArticleNamesWhatIsNotReported() throws {
        let start = try #require(article.range(of: "\nSome attributes have no effect and are not reported:"))
        let paragraph = article[start.upperBound...].components(separatedBy: "\n\n")[0]
        let names = paragraph.matches(of: /`(\w+)`/).map { String($0.1) }
        #expect(names == UnsupportedDeclaration.hints)
    }

    @Test(arguments: AttributeType.allCases.filter { ![.undefined, .objectID].contains($0) })
    func theArticleNamesEveryType(_ type: AttributeType) {
        #expect(article.contains("`\(type.rawValue)`"))
    }
}
