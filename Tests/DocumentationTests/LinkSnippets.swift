import CoreDataSource
import ErrorExpectations
import FrameworkNames
import Testing

@StoredEntity final class PostEntity: ManagedObject {
    @Stored(unique: true) var slug: String
    @Related(inverse: "posts") var tags: RelatedObjects<TagEntity>
}

@StoredEntity final class TagEntity: ManagedObject {
    @Stored(unique: true) var name: String
    @Related var posts: RelatedObjects<PostEntity>
}

/// A link with an attribute.
@StoredEntity(unique: [["post", "tag"]]) final class TaggingEntity: ManagedObject {
    var weight: Int16 = 1
    @Related(isOptional: false) var post: PostEntity?
    @Related(isOptional: false) var tag: TagEntity?
}

extension ManagedObjectModel {
    fileprivate static let posts = ManagedObjectModel("Posts") {
        PostEntity.self
        TagEntity.self
        TaggingEntity.self
    }
}

struct Post: Sendable {
    var slug: String
    var tags: [String]
}

final class PostDataSource: DataSource<Post> {
    nonisolated override class var entities: [ManagedObject.Type] { [PostEntity.self, TagEntity.self] }

    nonisolated override func prepare(_ posts: [Post], in context: PrivateContext) throws {
        try context.preload(PostEntity.self, where: \.slug, in: posts.map(\.slug))
        try context.preload(TagEntity.self, where: \.name, in: posts.flatMap(\.tags))
    }

    nonisolated override func onAdd(_ post: Post, in context: PrivateContext) throws -> ManagedObject? {
        let entity = try context.findOrInsert(PostEntity.self, where: \.slug, equals: post.slug)
        entity.tags.set(
            try post.tags.map {
                try context.findOrInsert(TagEntity.self, where: \.name, equals: $0)
            })
        return entity
    }
}

private final class PostsAlone: EntityDataSource {
    nonisolated override class var entities: [ManagedObject.Type] { [PostEntity.self] }
}

private final class TagsAlone: EntityDataSource {
    nonisolated override class var entities: [ManagedObject.Type] { [TagEntity.self] }
}

private final class TaggingsAlone: EntityDataSource {
    nonisolated override class var entities: [ManagedObject.Type] { [TaggingEntity.self] }
}

/// The snippets about many-to-many relationships.
@MainActor
struct LinkSnippets {
    /// A post and a tag, whose data sources are two.
    private func withPostAndTag(
        _ body: @MainActor (PersistentContainer, PostsAlone, TagsAlone) async throws -> Void
    ) async throws {
        let container = try await PersistentContainer(model: .posts, store: .inMemory)
        let posts = try container.dataSource(PostsAlone.self)
        let tags = try container.dataSource(TagsAlone.self)
        try await posts.perform { try $0.insert(PostEntity.self).slug = "a" }
        try await tags.perform { try $0.insert(TagEntity.self).name = "swift" }
        try await body(container, posts, tags)
        try await container.close()
    }

    @Test func aPostHasItsTags() async throws {
        let container = try await PersistentContainer(model: .posts, store: .inMemory)
        let posts = try container.dataSource(PostDataSource.self)
        try await posts.add([Post(slug: "a", tags: ["swift", "sql"]), Post(slug: "b", tags: ["swift"])])
        try await posts.add([Post(slug: "a", tags: ["linux"])])
        let found = try posts.fetch(TagEntity.self, order: [.ascending(\.name)])
        #expect(found.map(\.name) == ["linux", "sql", "swift"])
        #expect(found.map { $0.posts.map(\.slug) } == [["a"], [], ["b"]])
        try await container.close()
    }

    @Test func postsAreAddedReadAndFollowed() async throws {
        let container = try await PersistentContainer(model: .posts, store: .inMemory)
        let posts = try container.dataSource(PostDataSource.self)
        try await posts.add(Post(slug: "a", tags: ["swift", "sql"]))
        let tagged = try posts.fetch(PostEntity.self, where: \.tags.count > 1, order: [.ascending(\.slug)])
        #expect(tagged.map(\.slug) == ["a"])
        let lines = try await container.read { context in
            var request = ObjectRequest(PostEntity.self, order: [.ascending(\.slug)])
            request.prefetch = [\.tags]
            return try context.fetch(request).map { post in
                "\(post.slug): \(post.tags.map(\.name).sorted())"
            }
        }
        #expect(lines == ["a: [\"sql\", \"swift\"]"])
        for await update in posts.updates(
            ObjectRequest(PostEntity.self, where: \.tags.count > 1, order: [.ascending(\.slug)]))
        {
            for change in update.difference.changes { print(change.type, change.newIndex ?? 0) }
            print(update.snapshot.map(\.slug))
            if update.snapshot.count > 0 { break }
        }
        try await container.close()
    }

    @Test func aLinkOfTwoDataSourcesNeedsBoth() async throws {
        try await withPostAndTag { container, posts, tags in
            await expectError(.entityNotOwned) {
                try await posts.perform { context in
                    let post = try context.first(PostEntity.self, where: \.slug, equals: "a")
                    let tag = try context.first(TagEntity.self, where: \.name, equals: "swift")
                    if let post, let tag { post.tags.insert(tag) }
                }
            }
            try await container.perform(in: posts, tags) { posts, tags in
                let post = try posts.first(PostEntity.self, where: \.slug, equals: "a")
                let tag = try tags.first(TagEntity.self, where: \.name, equals: "swift")
                if let post, let tag { post.tags.insert(tag) }
            }
            #expect(try tags.fetch(TagEntity.self).map { $0.posts.map(\.slug) } == [["a"]])
        }
    }

    @Test func aLinkWithAttributesIsAnEntity() async throws {
        try await withPostAndTag { container, _, _ in
            let taggings = try container.dataSource(TaggingsAlone.self)
            try await taggings.perform { context in
                let tagging = try context.insert(TaggingEntity.self)
                tagging.weight = 3
                tagging.post = try context.first(PostEntity.self, where: \.slug, equals: "a")
                tagging.tag = try context.first(TagEntity.self, where: \.name, equals: "swift")
            }
            #expect(try taggings.fetch(TaggingEntity.self).map { $0.tag?.name } == ["swift"])
            await expectError(.uniquenessViolated) {
                try await taggings.perform { context in
                    let tagging = try context.insert(TaggingEntity.self)
                    tagging.post = try context.first(PostEntity.self, where: \.slug, equals: "a")
                    tagging.tag = try context.first(TagEntity.self, where: \.name, equals: "swift")
                }
            }
        }
    }
}
